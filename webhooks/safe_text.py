"""Turns what strangers sent into text that is safe to look at. Pure; templates escape it."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from itertools import islice

from webhooks.failure_texts import find_phrase

MAX_HEADERS = 100
MAX_HEADER_LENGTH = 2000
MAX_INDENT = 20
# Controls, what turns or hides text (bidi, zero width), and halves of surrogate pairs, which no
# page can carry.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ud800-\udfff]"
)
# Possessive, so that a string without an end is read once.
_JSON_PIECE = re.compile(
    r'"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"?|[\[{]\s*[\]}]|[\[\]{},:]|\s+|[^\s"\[\]{},:]+'
)


def visible(text: str) -> str:
    """Replaces each character that would hide or reorder others by its \\u-notation."""
    return _INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def body_text(body: bytes | memoryview | None) -> str:
    """Decodes any body as text; what is not UTF-8 becomes U+FFFD."""
    text = bytes(body or b"").decode("utf-8", errors="replace")
    return visible(text.replace("\r\n", "\n"))


def header_lines(headers: Mapping[str, str] | None) -> list[tuple[str, str]]:
    """The headers in the order sent; long values are cut."""
    return [
        (_one_line(name), _one_line(value))
        for name, value in islice((headers or {}).items(), MAX_HEADERS)
    ]


def _one_line(text: str) -> str:
    cut = text[:MAX_HEADER_LENGTH] + ("…" if len(text) > MAX_HEADER_LENGTH else "")
    return visible(cut.replace("\n", "\\n"))


def format_result(status: int | None, error: str) -> str:
    """Formats how an attempt ended: the status with its name, or the error; pages translate it."""
    if status is None:
        return find_phrase(visible(error))
    known = status in HTTPStatus._value2member_map_
    return f"{status} {HTTPStatus(status).phrase}" if known else str(status)


def indent_json(text: str) -> str:
    """Indents valid JSON, and keeps every string and number as it was written."""
    lines, depth = [""], 0
    for piece in _JSON_PIECE.findall(text):
        if piece.isspace():
            continue
        if piece in ("]", "}"):
            depth -= 1
            lines.append(_indent(depth))
        lines[-1] += ": " if piece == ":" else piece
        if piece in ("[", "{"):
            depth += 1
        if piece in ("[", "{", ","):
            lines.append(_indent(depth))
    return "\n".join(lines)


def _indent(depth: int) -> str:
    return "  " * max(0, min(depth, MAX_INDENT))
