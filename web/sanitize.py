"""Cleans user text for places where it must not imitate other content. Pure."""

import re
import unicodedata

UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # PostgreSQL refuses these characters
_BREAKS = ("Cc", "Zl", "Zp")  # line breaks and other controls
_HIDING = ("Cc", "Cf", "Zl", "Zp")
_JOINERS = "\u200c\u200d"  # needed for the shape of some letters and emojis
_VISIBLE = f"\t\r\n{_JOINERS}"
_DOTS = ".\u2024\u3002\ufe52\uff0e\uff61"  # browsers read all of them as the dot of a domain
_LINK_PARTS = re.compile(rf"[/\\@\uff0f\uff20]|:(?=//)|[{_DOTS}](?=\S)")


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


def show_invisible(text: str) -> str:
    """Writes out characters that hide or reorder text, such as ‹U+202E›; keeps line breaks."""
    return "".join(
        f"‹U+{ord(c):04X}›" if unicodedata.category(c) in _HIDING and c not in _VISIBLE else c
        for c in text
    )


def is_same_name(typed: str, name: str) -> bool:
    """Tells whether a person typed the name, whatever their spaces and invisible marks."""
    return to_one_line(typed) == to_one_line(name)


def to_plain_name(text: str, *, longest: int = 60) -> str:
    """Returns a name for an email to strangers: one line, bounded, and no part becomes a link.

    Email programs turn URLs and addresses into links. Slashes, @ and dots inside words therefore
    become spaces.
    """
    plain = " ".join(_LINK_PARTS.sub(" ", to_one_line(text)).replace('"', "'").split())
    return plain if len(plain) <= longest else plain[: longest - 1].rstrip() + "…"
