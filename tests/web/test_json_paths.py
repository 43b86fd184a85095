"""The paths of a value's parts, and what they cost for bodies of the greatest size."""

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from reviews.canonical import find_fault
from reviews.changes import compare_values
from reviews.response_types.approval.values import find_forbidden_name, find_inexact
from tests.cpu import limited_cpu
from web.json_paths import MAX_PATH, join, walk
from web.strict_json import MAX_BYTES, find_unstorable, parse_object

MOST = 50_000_000  # bytes, some two hundred times the body
HALF = MAX_BYTES // 2 - 100
LONG = "n" * HALF
HOSTILE: dict[str, Any] = {
    "an array below a long name": {"a": {LONG: [0] * (HALF // 2)}},
    "names below a long name": {"a": {LONG: {str(n): 0 for n in range(HALF // 10)}}},
    "a long name below a long name": {LONG: {LONG: [0] * 20}},
    "many numbers": {"a": [0] * HALF},
}
READERS: list[Callable[[Any], object]] = [
    lambda value: find_forbidden_name("proposal.arguments", value),
    lambda value: find_inexact("proposal.arguments", value),
    find_unstorable,
    find_fault,
    lambda value: parse_object(json.dumps({"é": 0, **value}).encode()),  # has an escape
]


def test_names_and_values_come_in_their_order() -> None:
    assert list(walk("a", {"b": [1, {"c": 2}], "d": 3})) == [
        ("a", {"b": [1, {"c": 2}], "d": 3}),
        ("a name in a", "b"),
        ("a.b", [1, {"c": 2}]),
        ("a.b[0]", 1),
        ("a.b[1]", {"c": 2}),
        ("a name in a.b[1]", "c"),
        ("a.b[1].c", 2),
        ("a name in a", "d"),
        ("a.d", 3),
    ]
    assert [path for path, _ in walk("", {"b": [1]})] == ["", "a name in body", "b", "b[0]"]


def test_a_path_is_cut() -> None:
    longest = join("a", LONG)
    assert longest == f"{join('a', 'n' * 200)}"
    assert len(longest) == MAX_PATH + 1
    assert join(longest, 5) == longest


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_no_body_takes_much_memory(reader: Callable[[Any], object], kind: str) -> None:
    assert len(json.dumps(HOSTILE[kind])) < MAX_BYTES * 1.6
    tracemalloc.start()
    try:
        with limited_cpu(20.0, kind):
            reader(HOSTILE[kind])
        assert tracemalloc.get_traced_memory()[1] < MOST
    finally:
        tracemalloc.stop()


def test_two_versions_are_compared_in_time() -> None:
    value = {LONG: [0] * (HALF // 2)}
    with limited_cpu(2.0):
        assert compare_values(value, value) == []
    changes = compare_values(value, {LONG: [1]})
    assert {len(change.path) for change in changes} == {MAX_PATH + 1}
