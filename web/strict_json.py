"""Reads a JSON object from a request, or raises InvalidJSON (docs/contract.md, `body`).

A UTF-8 byte order mark at the beginning is skipped. Also refused, besides malformed JSON: NUL
characters and lone surrogates (PostgreSQL cannot store them), NaN and Infinity, numbers beyond a
double, more than 32 levels, more than 256 KiB.
"""

import codecs
import json
import math
import re
from typing import Any, NoReturn

from django.http import HttpRequest

from web.sanitize import UNSTORABLE

MAX_BYTES = 256 * 1024
MAX_DEPTH = 32
_JSON_TYPE = re.compile(r"\s*application/json\s*(;.*)?\Z", re.IGNORECASE | re.DOTALL)


class InvalidJSON(ValueError):
    """The text is not a JSON object, or not one that this service can store."""


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
    if not _JSON_TYPE.match(request.META.get("CONTENT_TYPE", "")):
        raise InvalidJSON
    return parse_value(raw)


def parse_object(raw: bytes) -> dict[str, Any]:
    """Parses the JSON object in `raw`. Raises InvalidJSON."""
    return _require_object(parse_value(raw))


def parse_value(raw: bytes) -> Any:
    """Parses the JSON in `raw`. Raises InvalidJSON."""
    try:
        value = json.loads(
            raw.removeprefix(codecs.BOM_UTF8).decode(),
            parse_constant=_refuse,
            parse_float=_parse_float,
            parse_int=_parse_integer,
        )
    except (ValueError, RecursionError):
        raise InvalidJSON from None
    if b"\\u" in raw and not is_storable(value):
        raise InvalidJSON
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and _measure_depth(value) > MAX_DEPTH:
        raise InvalidJSON
    return value


def _require_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidJSON
    return value


def read_bytes(request: HttpRequest) -> bytes:
    """Reads the bytes of the body; a second call returns the same. Raises InvalidJSON."""
    if not hasattr(request, "raw_body"):
        request.raw_body = _read(request)  # type: ignore[attr-defined]
    raw: bytes | None = request.raw_body  # type: ignore[attr-defined]
    if raw is None:
        raise InvalidJSON
    return raw


def _read(request: HttpRequest) -> bytes | None:
    """Returns None where the body is too long or broke off."""
    try:
        raw: bytes = _get_stream(request).read(MAX_BYTES + 1)
    except OSError:  # the client disconnected or sent less than its Content-Length
        return None
    return raw if len(raw) <= MAX_BYTES else None


def _get_stream(request: HttpRequest) -> Any:
    """Returns the stream of the body, also for chunked bodies.

    Django treats a body without Content-Length as empty, but chunked bodies have no such header.
    For them the server marks the end of the input.
    """
    chunked = not request.META.get("CONTENT_LENGTH") and request.META.get("wsgi.input_terminated")
    return request.META["wsgi.input"] if chunked else request


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _parse_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(text)
    return number


def _parse_integer(text: str) -> int:
    number = int(text)
    try:
        float(number)
    except OverflowError:
        raise ValueError(text) from None
    return number


def _get_children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else []


def is_storable(value: Any) -> bool:
    """Tells whether PostgreSQL can store all texts in a value of JSON."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str) and UNSTORABLE.search(item):
            return False
        stack.extend(_get_children(item))
    return True


def _measure_depth(value: Any) -> int:
    level, depth = [value], 0
    while level:
        level = [child for item in level for child in _get_children(item)]
        level = [item for item in level if isinstance(item, dict | list)]
        depth += 1
    return depth
