"""What a notification shows of a request: little, plain, and in one line. Pure."""

import re

from web.sanitize import one_line

MAX_LENGTH = 120
_IMAGE_OR_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_MARKS = re.compile(r"(?m)^\s{0,3}(?:#{1,6}\s+|>\s?|[-*+]\s+|```.*$)|\*\*|__|~~|`")


def excerpt(text: str, longest: int = MAX_LENGTH) -> str:
    """The beginning of a text in markdown, without its marks, in at most `longest` characters."""
    context = _MARKS.sub("", _IMAGE_OR_LINK.sub(r"\1", text))
    line = one_line(context)
    if len(line) <= longest:
        return line
    cut = line[: longest - 1]
    head, blank, _ = cut.rpartition(" ")
    # at a word, unless the last one is most of it
    return (head if blank and len(head) > longest // 2 else cut).rstrip() + "…"
