"""The canonical form of JSON, by the examples of RFC 8785 and by properties."""

import json
import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.canonical import (
    MAX_NUMBER,
    NotCanonical,
    canonicalize,
    compute_digest,
    find_difference,
    find_fault,
)

# RFC 8785, 3.2.2 and the bytes of 3.2.4
SAMPLE = r"""
{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}
"""
SAMPLE_BYTES = """
7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72 75 65 2c 66 61 6c 73 65 5d 2c 22 6e 75
6d 62 65 72 73 22 3a 5b 33 33 33 33 33 33 33 33 33 2e 33 33 33 33 33 33 33 2c 31 65 2b 33 30 2c 34
2e 35 2c 30 2e 30 30 32 2c 31 65 2d 32 37 5d 2c 22 73 74 72 69 6e 67 22 3a 22 e2 82 ac 24 5c 75 30
30 30 66 5c 6e 41 27 42 5c 22 5c 5c 5c 5c 5c 22 2f 22 7d
"""
# 3.2.3
UNSORTED = r"""
{
  "\u20ac": "Euro Sign",
  "\r": "Carriage Return",
  "\ufb33": "Hebrew Letter Dalet With Dagesh",
  "1": "One",
  "\ud83d\ude00": "Emoji: Grinning Face",
  "\u0080": "Control",
  "\u00f6": "Latin Small Letter O With Diaeresis"
}
"""
SORTED = [
    "Carriage Return", "One", "Control", "Latin Small Letter O With Diaeresis", "Euro Sign",
    "Emoji: Grinning Face", "Hebrew Letter Dalet With Dagesh",
]  # fmt: skip
# Appendix B: the bits of a double, and how it is written
NUMBERS = """
0000000000000000 0
8000000000000000 0
0000000000000001 5e-324
8000000000000001 -5e-324
7fefffffffffffff 1.7976931348623157e+308
ffefffffffffffff -1.7976931348623157e+308
4340000000000000 9007199254740992
c340000000000000 -9007199254740992
4430000000000000 295147905179352830000
44b52d02c7e14af5 9.999999999999997e+22
44b52d02c7e14af6 1e+23
44b52d02c7e14af7 1.0000000000000001e+23
444b1ae4d6e2ef4e 999999999999999700000
444b1ae4d6e2ef4f 999999999999999900000
444b1ae4d6e2ef50 1e+21
3eb0c6f7a0b5ed8c 9.999999999999997e-7
3eb0c6f7a0b5ed8d 0.000001
41b3de4355555553 333333333.3333332
41b3de4355555554 333333333.33333325
41b3de4355555555 333333333.3333333
41b3de4355555556 333333333.3333334
41b3de4355555557 333333333.33333343
becbf647612f3696 -0.0000033333333333333333
43143ff3c1cb0959 1424953923781206.2
"""
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_NUMBER, MAX_NUMBER)
    | st.floats(-MAX_NUMBER, MAX_NUMBER)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


def test_the_sample_of_the_rfc() -> None:
    assert canonicalize(json.loads(SAMPLE)) == bytes.fromhex(SAMPLE_BYTES)


def test_names_are_sorted_as_the_rfc_says() -> None:
    assert list(json.loads(canonicalize(json.loads(UNSORTED))).values()) == SORTED


@pytest.mark.parametrize("line", NUMBERS.strip().splitlines())
def test_numbers_of_the_rfc(line: str) -> None:
    bits, written = line.split()
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonicalize(number) == written.encode()


BOUNDS = f"must be a number between -{MAX_NUMBER} and {MAX_NUMBER}"


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ({"amount": 2**53}, f"value.amount {BOUNDS}"),
        ({"a": [1, {"b": -(2**53)}]}, f"value.a[1].b {BOUNDS}"),
        ([1e16], f"value[0] {BOUNDS}"),  # other programs write it as an integer
        ([math.nan], f"value[0] {BOUNDS}"),
        ([1, math.inf], f"value[1] {BOUNDS}"),
        ({"a": "\ud83d"}, "value.a must not contain lone surrogates"),
        ({"\udc00": 1}, "a name in value must not contain lone surrogates"),
        ([["\0"]], "value[0][0] must not contain NUL characters"),
    ],
)
def test_what_has_no_digest_is_named(value: Any, fault: str) -> None:
    assert find_fault(value) == fault
    with pytest.raises(NotCanonical) as caught:
        compute_digest(value)
    assert str(caught.value) == fault


@pytest.mark.parametrize("number", [9007199254740991, -9007199254740991, 9007199254740991.0])
def test_the_largest_number_has_one(number: float) -> None:
    assert find_fault([number]) is None


def test_a_long_path_is_cut() -> None:
    fault = find_fault({"a" * 1000: {"b" * 1000: 2**60}})
    assert fault is not None
    assert len(fault) < 250


@given(VALUES)
def test_it_is_the_same_value_and_has_one_form(value: Any) -> None:
    form = canonicalize(value)
    assert json.loads(form) == value
    assert canonicalize(json.loads(form)) == form
    assert find_difference(value, json.loads(form)) is None


@given(VALUES, VALUES)
def test_a_difference_is_found_where_the_digests_differ(one: Any, other: Any) -> None:
    assert (find_difference(one, other) is None) == (compute_digest(one) == compute_digest(other))


@pytest.mark.parametrize(
    ("approved", "sent", "path"),
    [
        ({"to": "a", "amount": 5}, {"amount": 5.0, "to": "a"}, None),
        ({"to": "a", "amount": 5}, {"to": "a", "amount": 6}, "arguments.amount"),
        ({"b": 1, "a": 1}, {"a": 2, "b": 2}, "arguments.b"),
        ({"a": 1}, {"a": True}, "arguments.a"),
        ({"a": 0}, {"a": False}, "arguments.a"),
        ({"a": "1"}, {"a": 1}, "arguments.a"),
        ({"a": None}, {}, "arguments.a"),
        ({}, {"__proto__": 1}, "arguments.__proto__"),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "arguments.a[1].b"),
        ({"a": [1]}, {"a": [1, 2]}, "arguments.a[1]"),
        ({"a": []}, {"a": {}}, "arguments.a"),
        ({"a": "é"}, {"a": "e\u0301"}, "arguments.a"),
    ],
)
def test_the_first_difference_is_named(approved: Any, sent: Any, path: str | None) -> None:
    assert find_difference(approved, sent, "arguments") == path
