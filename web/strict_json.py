"""Reads a JSON object from a request, or raises InvalidJSON (docs/contract.md, `body`).

A UTF-8 byte order mark at the beginning is skipped. Besides malformed JSON it refuses NUL
characters and lone surrogates (PostgreSQL cannot store them), NaN and Infinity, numbers beyond a
double, more than 32 levels, and more than 256 KiB.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from web.json_paths import join, walk
from web.sanitize import UNSTORABLE

if TYPE_CHECKING:
    from django.http import HttpRequest

MAX_BYTES = 256 * 1024
MAX_DEPTH = 32
MAX_QUOTED = 60  # characters of what a client sent
TOO_LARGE = f"body must have at most {MAX_BYTES} bytes"
_TOO_DEEP = f"body must have at most {MAX_DEPTH} levels"
_EMPTY = "body must not be empty"
_GZIP = b"\x1f\x8b"
_KINDS = {
    list: "an array",
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}
_JSON_TYPE = re.compile(r"\s*application/json\s*(;.*)?\Z", re.IGNORECASE | re.DOTALL)


class InvalidJSON(ValueError):
    """The text is not a JSON object, or not one that this service can store: says why.

    `line` is the line that is not JSON, if it is not.
    """

    def __init__(self, reason: str, *, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


def read_object(request: HttpRequest, *, empty_is_object: bool = False) -> dict[str, Any]:
    """Reads the JSON object in the body; with `empty_is_object`, an empty body is `{}`.

    Raises InvalidJSON.
    """
    if empty_is_object and not read_bytes(request).removeprefix(codecs.BOM_UTF8).strip():
        return {}
    return _require_object(read_value(request))


def read_value(request: HttpRequest) -> Any:
    """Reads the JSON in the body, which need not be an object. Raises InvalidJSON."""
    raw = read_bytes(request)
    content_type = request.META.get("CONTENT_TYPE", "")
    if not raw:
        raise InvalidJSON(_EMPTY)
    if not _JSON_TYPE.match(content_type):
        sent = f"not {_shorten(content_type)}" if content_type else "and there is none"
        raise InvalidJSON(f"Content-Type must be application/json, {sent}")
    try:
        return parse_value(raw)
    except InvalidJSON:
        coding = request.META.get("HTTP_CONTENT_ENCODING", "")
        if coding.strip().lower() in ("", "identity"):
            raise
        raise InvalidJSON(f"body must not be compressed, but is {_shorten(coding)}") from None


def parse_object(raw: bytes) -> dict[str, Any]:
    """Parses the JSON object in `raw`. Raises InvalidJSON."""
    return _require_object(parse_value(raw))


def parse_value(raw: bytes) -> Any:
    """Parses the JSON in `raw`. Raises InvalidJSON."""
    text = _decode(raw)
    try:
        value = json.loads(
            text, parse_constant=_refuse, parse_float=_parse_float, parse_int=_parse_integer
        )
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        reason = f"{what} at line {error.lineno}, column {error.colno}"
        raise InvalidJSON(f"body must be JSON: {reason}", line=error.lineno) from None
    except RecursionError:
        raise InvalidJSON(_TOO_DEEP) from None
    if b"\\u" in raw and (fault := find_unstorable(value)):
        raise InvalidJSON(fault)
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and measure_depth(value) > MAX_DEPTH:
        raise InvalidJSON(_TOO_DEEP)
    return value


class _Pairs(list[tuple[str, Any]]):
    """The names and values of an object, with those that occur twice."""


def find_repeated(raw: bytes, within: Sequence[str] = ()) -> str | None:
    """Returns the path of a name that occurs twice in an object; None if there is none.

    `raw` has been parsed; programs differ in which of the values they read (RFC 8785). `within` are
    the names that lead to the searched value: it searches only that value and the way to it.
    """
    value: Any = json.loads(_decode(raw), object_pairs_hook=_Pairs)
    path = ""
    for name in within:
        path = join(path, name)
        found = [each for other, each in value if other == name]
        if len(found) > 1:
            return path
        value = found[0]
    return _find_repeated(path, value)


def _find_repeated(path: str, value: Any) -> str | None:
    parts: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, _Pairs):
        counts = Counter(name for name, _ in value)
        if len(counts) < len(value):
            repeated = next(name for name in counts if counts[name] > 1)
            return _shorten(join(path, repeated))
        parts = value
    elif isinstance(value, list):
        parts = enumerate(value)
    found = (_find_repeated(join(path, part), each) for part, each in parts)
    return next(filter(None, found), None)


def _decode(raw: bytes) -> str:
    bare = raw.removeprefix(codecs.BOM_UTF8)
    if raw.startswith(_GZIP):
        raise InvalidJSON("body must not be compressed, but begins as gzip does")
    try:
        text = bare.decode()
    except UnicodeDecodeError as error:
        place = len(raw) - len(bare) + error.start
        raise InvalidJSON(f"body must be UTF-8: byte {place + 1} is 0x{raw[place]:02X}") from None
    if not text.strip():
        raise InvalidJSON(_EMPTY)
    return text


def _require_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidJSON(f"body must be a JSON object, not {_KINDS[type(value)]}")
    return value


def _shorten(sent: str) -> str:
    """Returns what a client sent, as a part of a sentence to it."""
    printable = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for letter in sent[: MAX_QUOTED + 1]
    )
    return printable if len(printable) <= MAX_QUOTED else f"{printable[:MAX_QUOTED]}…"


def read_bytes(request: HttpRequest) -> bytes:
    """Reads the bytes of the body; a second call returns the same. Raises InvalidJSON."""
    if not hasattr(request, "raw_body"):
        request.raw_body = _read(request)  # type: ignore[attr-defined]
    raw: bytes | str = request.raw_body  # type: ignore[attr-defined]
    if isinstance(raw, str):
        raise InvalidJSON(raw)
    return raw


def _read(request: HttpRequest) -> bytes | str:
    """Returns the bytes, or a sentence where the body is too long or broke off."""
    try:
        raw: bytes = request.read(MAX_BYTES + 1)
    except OSError:  # the client disconnected or sent less than its Content-Length
        return "body ended before its Content-Length"
    return raw if len(raw) <= MAX_BYTES else TOO_LARGE


def _refuse(constant: str) -> NoReturn:
    raise InvalidJSON(f"body must not contain {constant}, which is no number in JSON")


def _parse_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        _refuse_number(text)
    return number


def _parse_integer(text: str) -> int:
    try:
        number = int(text)
        float(number)
    except (OverflowError, ValueError):  # more digits than Python reads
        _refuse_number(text)
    return number


def _refuse_number(text: str) -> NoReturn:
    raise InvalidJSON(f"body must not contain numbers beyond a double, such as {_shorten(text)}")


def _get_children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else []


def find_unstorable(value: Any) -> str | None:
    """Says which field of a value of JSON PostgreSQL cannot store; None if it can store all."""
    for path, item in walk("", value):
        if isinstance(item, str) and (found := UNSTORABLE.search(item)):
            what = "NUL characters" if found[0] == "\0" else "lone surrogates"
            return f"{_shorten(path) or 'body'} must not contain {what}"
    return None


def measure_depth(value: Any) -> int:
    """Counts the levels of a value, including that of what it contains."""
    level, depth = [value], 0
    while level:
        level = [child for item in level for child in _get_children(item)]
        level = [item for item in level if isinstance(item, dict | list)]
        depth += 1
    return depth
