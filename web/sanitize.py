"""Somebody's words in a place where they must not look like anything else. Pure."""

import unicodedata

_BREAKS = ("Cc", "Zl", "Zp")  # line breaks and other controls
_JOINERS = "\u200c\u200d"  # they hold a letter's or an emoji's shape together


def one_line(text: str) -> str:
    """The text with single blanks for line breaks and controls, and without invisible marks: some
    turn the direction of what follows."""
    context = [
        " " if unicodedata.category(c) in _BREAKS else c
        for c in text
        if unicodedata.category(c) != "Cf" or c in _JOINERS
    ]
    return " ".join("".join(context).split())
