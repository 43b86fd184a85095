"""The words and values in which two versions of a question differ."""

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.changes import MAX_CHANGES, Change, Part, compare_texts, compare_values
from reviews.diff_html import format_change

words = st.lists(st.sampled_from(["a", "b", "c", " ", "\n", "ß", "😀", "1.5"]), max_size=30)
texts = words.map("".join) | st.text(max_size=40)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(-2, 2) | st.sampled_from("ab"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab."), inner),
    max_leaves=6,
)


def test_words() -> None:
    assert compare_texts("Refund 80.00 € today?", "Refund 40.50 € today, please?") == [
        Part("Refund "),
        Part("80.00", is_removed=True),
        Part("40.50", is_added=True),
        Part(" € today"),
        Part(", please", is_added=True),
        Part("?"),
    ]


@given(texts, texts)
def test_both_texts_can_be_read_from_it(before: str, after: str) -> None:
    parts = compare_texts(before, after)
    assert "".join(part.text for part in parts if not part.is_added) == before
    assert "".join(part.text for part in parts if not part.is_removed) == after
    assert (before == after) == all(not (part.is_added or part.is_removed) for part in parts)


def test_texts_that_repeat_themselves_are_compared_in_bounded_steps() -> None:
    """The longest ones, of as few words as take the most comparisons."""
    rng = random.Random(1)
    for alphabet in ("a", "ab", "".join(map(chr, range(0x4E00, 0x4E64)))):
        before, after = (" ".join(rng.choices(alphabet, k=1000)) for _ in range(2))
        parts = compare_texts(before, after)
        assert "".join(part.text for part in parts if not part.is_added) == before


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({}, {}, []),
        ({"a": 1}, {"a": 2}, [Change("a", 1, 2)]),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, [Change("a.b.2", 2, 3)]),
        ({}, {"a": None}, [Change("a", None, None, has_before=False)]),
        ({"a": "x"}, {}, [Change("a", "x", None, has_after=False)]),
        ({"a": 1}, {"a": True}, [Change("a", 1, True)]),
        ({"a": 1}, {"a": "1"}, [Change("a", 1, "1")]),
        ({"a": [1]}, {"a": {"1": 1}}, [Change("a", [1], {"1": 1})]),
    ],
)
def test_values(before: Any, after: Any, changes: list[Change]) -> None:
    assert compare_values(before, after) == changes


@given(values, values)
def test_only_equal_values_have_no_changes(before: Any, after: Any) -> None:
    def is_equal(one: Any, other: Any) -> bool:
        return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)

    assert is_equal(before, after) == (compare_values(before, after) == [])


def test_so_many_changes() -> None:
    many = {str(number): number for number in range(10_000)}
    assert len(compare_values(many, {})) == MAX_CHANGES + 1


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (None, [], ["none", "[]"]),
        ({}, [], ["{}", "[]"]),
        (1, "1", ["1", "&quot;1&quot;"]),
        ("yes", True, ["&quot;yes&quot;", "true"]),
        ("a", "b", ["a", "b"]),
    ],
)
def test_what_differs_reads_differently(before: Any, after: Any, shown: list[str]) -> None:
    html = str(format_change(Change("a", before, after)))
    assert [html.count(f"</span>{each}<span") for each in shown] == [1, 1]
