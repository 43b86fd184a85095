"""Cleans what people paste: addresses, codes, secrets. Pure.

Text copied from a message or a page often has blanks and invisible characters around it.
"""

import re
import unicodedata
from collections.abc import Callable

_INVISIBLE = ("Cc", "Cf")
# Fillers and selectors: invisible characters of other categories.
_FILLERS = "\u034f\u115f\u1160\u2800\u3164\uffa0" + "".join(map(chr, range(0xFE00, 0xFE10)))
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
# Other characters that people type or paste between groups; U+30FC is on Japanese keyboards.
_DASHES = "\u2212\u02d7\u2043\u30fc\u2500\u2501\u00b7\u2022~_"
_AROUND = ("Ps", "Pe", "Pi", "Pf", "Po")
_QUOTES = "<>`\u2032\u2033|"
_JOIN_LINK = re.compile(r"/join/([^/?#&]*)", re.IGNORECASE)


class InvisibleCharacter(ValueError):
    """An invisible character stands inside the text."""


def clean(text: str) -> str:
    """Removes blanks and invisible characters from the ends. Raises InvisibleCharacter."""
    kept = trim(text)
    if any(map(is_invisible, kept)):
        raise InvisibleCharacter
    return kept


def trim(text: str) -> str:
    """Removes blanks and invisible characters from the ends."""
    return _strip(text, _is_dropped)


def is_invisible(character: str) -> bool:
    """Tells whether a character is invisible and no blank."""
    is_hidden = unicodedata.category(character) in _INVISIBLE or character in _FILLERS
    return is_hidden and not character.isspace()


def _is_dropped(character: str) -> bool:
    # Copying does not add control characters.
    is_control = unicodedata.category(character) == "Cc"
    return character.isspace() or (is_invisible(character) and not is_control)


def to_narrow(text: str) -> str:
    """Replaces full-width letters, digits and marks by those of ASCII, and nothing else.

    NFKC would also replace letters that only look alike, such as U+017F by an s.
    """
    return text.translate(_WIDE)


def clean_code(text: str) -> str:
    """Returns a code of letters and digits without blanks, dashes and surrounding characters.

    Codes are random and compared as a whole, so NFKC is safe.
    """
    kept = [
        each
        for each in unicodedata.normalize("NFKC", text)
        if not (each.isspace() or is_invisible(each) or _is_dash(each))
    ]
    return _strip("".join(kept), _is_around)


def find_join_code(text: str) -> str:
    """Returns the code of a text that is a code or a whole join link."""
    plain = unicodedata.normalize("NFKC", text)
    link = _JOIN_LINK.search(plain)
    if link:
        return clean_code(link[1])
    return clean_code(re.split("[?#]", plain.strip())[0].rstrip("/").rpartition("/")[2])


def _is_dash(character: str) -> bool:
    return unicodedata.category(character) == "Pd" or character in _DASHES


def _is_around(character: str) -> bool:
    return unicodedata.category(character) in _AROUND or character in _QUOTES


def _strip(text: str, is_removed: Callable[[str], bool]) -> str:
    start, end = 0, len(text)
    while start < end and is_removed(text[start]):
        start += 1
    while end > start and is_removed(text[end - 1]):
        end -= 1
    return text[start:end]
