"""What a notification shows of a request: little, plain, and in one line. Pure."""

import re

LONGEST = 120
_IMAGE_OR_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_MARKS = re.compile(r"(?m)^\s{0,3}(?:#{1,6}\s+|>\s?|[-*+]\s+|```.*$)|\*\*|__|~~|`")
# Controls, and what turns the direction of the text around it: a lock screen is no page.
_INVISIBLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def excerpt(text: str, longest: int = LONGEST) -> str:
    """The beginning of a text in markdown, without its marks, in at most `longest` characters."""
    shown = _MARKS.sub("", _IMAGE_OR_LINK.sub(r"\1", text))
    line = " ".join(_INVISIBLE.sub("", shown).split())
    if len(line) <= longest:
        return line
    cut = line[: longest - 1]
    head, blank, _ = cut.rpartition(" ")
    # at a word, unless the last one is most of it
    return (head if blank and len(head) > longest // 2 else cut).rstrip() + "…"
