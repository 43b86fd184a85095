"""Reads a JSON object from a request, or raises InvalidJSON (resolved gap 4).

Refused besides malformed JSON: NUL characters and lone surrogates (PostgreSQL stores neither),
NaN and Infinity, numbers beyond a double, more than 32 levels, more than 256 KiB.
"""

import json
import math
import re
from typing import Any, NoReturn

from django.http import HttpRequest

MAX_BYTES = 256 * 1024
MAX_DEPTH = 32
_JSON_TYPE = re.compile(r"\s*application/json\s*(;.*)?\Z", re.IGNORECASE | re.DOTALL)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class InvalidJSON(ValueError):
    """The text is no JSON object that this service can store."""


def read_object(request: HttpRequest, *, empty_is_object: bool = False) -> dict[str, Any]:
    """The body's JSON object; an empty body is `{}` where `empty_is_object` says so.

    Raises InvalidJSON.
    """
    raw = _read(request)
    if empty_is_object and not raw.strip():
        return {}
    if not _JSON_TYPE.match(request.META.get("CONTENT_TYPE", "")):
        raise InvalidJSON
    return parse_object(raw)


def parse_object(raw: bytes) -> dict[str, Any]:
    """The JSON object in `raw`. Raises InvalidJSON."""
    try:
        value = json.loads(
            raw.decode(), parse_constant=_refuse, parse_float=_double, parse_int=_integer
        )
    except (ValueError, RecursionError):
        raise InvalidJSON from None
    if not isinstance(value, dict):
        raise InvalidJSON
    if b"\\u" in raw and not _storable(value):
        raise InvalidJSON
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise InvalidJSON
    return value


def _read(request: HttpRequest) -> bytes:
    try:
        raw: bytes = _stream(request).read(MAX_BYTES + 1)
    except OSError:  # the client went away, or sent less than it announced
        raise InvalidJSON from None
    if len(raw) > MAX_BYTES:
        raise InvalidJSON
    return raw


def _stream(request: HttpRequest) -> Any:
    """Where the body is read from. Django takes one without Content-Length for empty, but a
    chunked one has none; the server marks the end of it."""
    chunked = not request.META.get("CONTENT_LENGTH") and request.META.get("wsgi.input_terminated")
    return request.META["wsgi.input"] if chunked else request


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _double(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(text)
    return number


def _integer(text: str) -> int:
    number = int(text)
    try:
        float(number)
    except OverflowError:
        raise ValueError(text) from None
    return number


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else []


def _storable(value: Any) -> bool:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str) and _UNSTORABLE.search(item):
            return False
        waiting.extend(_children(item))
    return True


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level:
        level = [child for item in level for child in _children(item)]
        level = [item for item in level if isinstance(item, dict | list)]
        depth += 1
    return depth
