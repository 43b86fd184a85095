"""Shortens a request's text to the one plain line that a notification shows. Pure."""

import re

from web.sanitize import to_one_line

MAX_LENGTH = 120
# Without a bracket inside, so that a text of brackets is read once.
_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^)\[\n]*\)")
_MARKS = re.compile(r"(?m)^\s{0,3}(?:#{1,6}\s+|>\s?|[-*+]\s+|```.*$)|\*\*|__|~~|`")


def excerpt(text: str, max_length: int = MAX_LENGTH) -> str:
    """The beginning of a markdown text in one plain line of at most `max_length` characters."""
    plain = _MARKS.sub("", _IMAGE_OR_LINK.sub(r"\1", text))
    line = to_one_line(plain)
    if len(line) <= max_length:
        return line
    cut = line[: max_length - 1]
    head, blank, _ = cut.rpartition(" ")
    # at a word, unless the last one is most of it
    return (head if blank and len(head) > max_length // 2 else cut).rstrip() + "…"
