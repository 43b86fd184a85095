"""What strangers sent, as text that is safe to look at. Pure; escaping is the template's part."""

import re
from collections.abc import Mapping
from itertools import islice

MAX_HEADERS = 100
MAX_HEADER_LENGTH = 2000
DEEPEST_INDENT = 20
# Controls, what turns or hides text (bidi, zero width), and halves of surrogate pairs, which no
# page can carry.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ud800-\udfff]"
)
_JSON_PIECE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{]\s*[\]}]|[\[\]{},:]|\s+|[^\s"\[\]{},:]+|"')


def visible(text: str) -> str:
    """The text with a \\u-notation in place of each character that would hide or turn others."""
    return _INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def body_text(body: bytes | memoryview | None) -> str:
    """A body as text, whatever it is; what is not UTF-8 becomes U+FFFD."""
    text = bytes(body or b"").decode("utf-8", errors="replace")
    return visible(text.replace("\r\n", "\n"))


def header_lines(headers: Mapping[str, str] | None) -> list[tuple[str, str]]:
    """Headers in the order sent, endless ones cut."""
    return [
        (_one_line(name), _one_line(value))
        for name, value in islice((headers or {}).items(), MAX_HEADERS)
    ]


def _one_line(text: str) -> str:
    cut = text[:MAX_HEADER_LENGTH] + ("…" if len(text) > MAX_HEADER_LENGTH else "")
    return visible(cut.replace("\n", "\\n"))


def indent_json(text: str) -> str:
    """Valid JSON on lines of its own, every string and number as it was written."""
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
    return "  " * max(0, min(depth, DEEPEST_INDENT))
