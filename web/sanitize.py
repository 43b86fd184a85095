"""Cleans user text for places where it must not imitate other content. Pure."""

import unicodedata

_BREAKS = ("Cc", "Zl", "Zp")  # line breaks and other controls
_JOINERS = "\u200c\u200d"  # needed for the shape of some letters and emojis


def to_one_line(text: str) -> str:
    """Replaces line breaks and control characters by single spaces and removes invisible marks.

    Some invisible marks reverse the direction of the text after them.
    """
    characters = [
        " " if unicodedata.category(c) in _BREAKS else c
        for c in text
        if unicodedata.category(c) != "Cf" or c in _JOINERS
    ]
    return " ".join("".join(characters).split())
