"""Cleans user text for places where it must not imitate other content. Pure."""

import re
import unicodedata

UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # PostgreSQL refuses these characters
_BREAKS = ("Cc", "Zl", "Zp")  # line breaks and other controls
_HIDING = ("Cc", "Cf", "Zl", "Zp")
# Default_Ignorable_Code_Point of DerivedCoreProperties.txt, Unicode 16.0, and the blank of Braille.
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff\u2800]"
)
# From Arabic to Sinhala (without digits and invisible marks), Myanmar, Khmer and Mongolian.
_JOINED = (
    "\u0620-\u065f\u066e-\u06d5\u06fa-\u06ff\u0710-\u088e\u08a0-\u08e1\u08e3-\u0dff"
    "\u1000-\u109f\u1780-\u17b3\u17b6-\u17d3\u1820-\u18aa"
)
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u27bf\u2934\u2935"
    "\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
# A joiner or variation selector stays right after what it gives a shape: an emoji's joiner also
# before an emoji, and that of a digit before the frame of a key.
_SHAPING = re.compile(
    f"(?<=[{_JOINED}])[\u200c\u200d]|(?<=[\u1820-\u18aa])[\u180b-\u180d\u180f]"
    f"|(?<=[{_HAN}])[\ufe00-\ufe02\U000e0100-\U000e01ef]"
    f"|(?<=[{_EMOJI}])[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    f"|(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[{_EMOJI}])"
)
_JOINERS = "\u200c\u200d"  # needed for the shape of some letters and emojis
_VISIBLE = "\t\r\n"
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
    kept = {found.start() for found in _SHAPING.finditer(text)}
    return "".join(
        f"‹U+{ord(c):04X}›" if _hides(c) and at not in kept else c for at, c in enumerate(text)
    )


def _hides(character: str) -> bool:
    if character in _VISIBLE:
        return False
    return unicodedata.category(character) in _HIDING or _IGNORABLE.match(character) is not None


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
