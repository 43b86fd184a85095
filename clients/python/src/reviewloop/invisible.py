"""Finds characters that hide or reorder text, as the service's pages do (web/sanitize.py)."""

from __future__ import annotations

import re
import unicodedata

HIDING = ("Cc", "Cf", "Cs", "Zl", "Zp")
# Default_Ignorable_Code_Point of DerivedCoreProperties.txt, Unicode 16.0, and the blank of Braille.
IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff\u2800]"
)
# From Arabic to Sinhala (without digits and invisible marks), Myanmar, Khmer and Mongolian.
JOINED = (
    "\u0620-\u065f\u066e-\u06d5\u06fa-\u06ff\u0710-\u088e\u08a0-\u08e1\u08e3-\u0dff"
    "\u1000-\u109f\u1780-\u17b3\u17b6-\u17d3\u1820-\u18aa"
)
HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u27bf\u2934\u2935"
    "\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
# A joiner or variation selector right after what it gives a shape.
SHAPING = re.compile(
    f"(?<=[{JOINED}])[\u200c\u200d]|(?<=[\u1820-\u18aa])[\u180b-\u180d\u180f]"
    f"|(?<=[{HAN}])[\ufe00-\ufe02\U000e0100-\U000e01ef]"
    f"|(?<=[{EMOJI}])[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    f"|(?:(?<=[{EMOJI}])|(?<=[{EMOJI}]\ufe0f))\u200d(?=[{EMOJI}])"
)


def clean(text: str) -> str:
    """Writes out what could command the terminal, hide or reorder text: ‹U+202E›.

    Line breaks stay.
    """
    kept = {found.start() for found in SHAPING.finditer(text)}
    return "".join(
        f"‹U+{ord(c):04X}›" if hides(c) and at not in kept else c for at, c in enumerate(text)
    )


def hides(character: str) -> bool:
    if character == "\n":
        return False
    return unicodedata.category(character) in HIDING or IGNORABLE.match(character) is not None
