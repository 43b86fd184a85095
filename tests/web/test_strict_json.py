"""The strict JSON parser, by properties."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cpu import limited_cpu
from web.strict_json import MAX_BYTES, MAX_DEPTH, InvalidJSON, parse_object

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
NUMBERS = st.integers(-(10**300), 10**300) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(TEXT, VALUES, max_size=5), st.booleans())
def test_every_storable_object_comes_back(value: dict[str, Any], ascii_only: bool) -> None:
    assert parse_object(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.binary(max_size=200))
def test_any_bytes_give_an_object_or_the_one_error(raw: bytes) -> None:
    with contextlib.suppress(InvalidJSON):
        assert isinstance(parse_object(raw), dict)


def nested(depth: int) -> bytes:
    return b'{"a":' * (depth - 1) + b"{}" + b"}" * (depth - 1)


def test_the_depth_ends_at_its_limit() -> None:
    parse_object(nested(MAX_DEPTH))
    for depth in (MAX_DEPTH + 1, 1000, 40_000):
        with pytest.raises(InvalidJSON):
            parse_object(nested(depth))
    wide = json.dumps({"a": [[] for _ in range(1000)]}).encode()
    assert len(parse_object(wide)["a"]) == 1000


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"[]", b'"a"', b"1", b"null", b"{", b"{}x", b"{'a':1}", b'{"a":NaN}',
        b'{"a":Infinity}', b'{"a":-Infinity}', b'{"a":1e999}', b'{"a":-1e999}',
        b'{"a":1' + b"0" * 400 + b"}", b'{"a":1' + b"0" * 5000 + b"}",
        b'{"a":"\\u0000"}', b'{"\\u0000":1}', b'{"a":"\\ud800"}', b'{"a":"\\udc00\\ud800"}',
        b'{"a":"\x00"}', b'{"a":"\xff"}', b'{"a":"\xed\xa0\x80"}',
        b"\xef\xbb\xbf\xef\xbb\xbf{}", b"{}\xef\xbb\xbf",
    ],
)  # fmt: skip
def test_what_cannot_be_stored_or_read_is_refused(raw: bytes) -> None:
    with pytest.raises(InvalidJSON):
        parse_object(raw)


def test_one_byte_order_mark_is_skipped() -> None:
    assert parse_object(b'\xef\xbb\xbf{"a":"\xef\xbb\xbf"}') == {"a": "\ufeff"}


def test_an_escaped_backslash_before_u0000_is_no_nul() -> None:
    assert parse_object(b'{"a":"\\\\u0000"}') == {"a": "\\u0000"}
    assert parse_object(b'{"a":"\\ud83d\\ude00"}') == {"a": "\U0001f600"}


@pytest.mark.parametrize(
    ("begin", "part", "end"),
    [
        ('{"a":1', "1", "}"), ('{"a":1.', "1", "}"), ('{"a":0.', "0", "1}"), ('{"a":1e', "9", "}"),
        ('{"a":1e-', "9", "}"), ('{"a":[', "1e308,", "1]}"), ('{"a":[', "{},", "{}]}"),
        ('{"a":"', "\\u0041", '"}'), ('{"a":"', "\\ud83d\\ude00", '"}'), ('{"a":"', '\\"', '"}'),
        ('{"a":[', "[[[[]]]],", "1]}"), ('{"a":', "[", ""), ("", " ", "{}"), ('{"a":"', "\\", ""),
        ("{", '"a":1,', '"b":1}'),
    ],
)  # fmt: skip
def test_hostile_json_is_read_in_time(begin: str, part: str, end: str) -> None:
    text = begin + part * ((MAX_BYTES - len(begin + end)) // len(part)) + end
    with limited_cpu(1.0, (begin, part)), contextlib.suppress(InvalidJSON):
        parse_object(text.encode())
