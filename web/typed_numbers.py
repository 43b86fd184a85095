"""Reads numbers that people type, by the decimal mark of the page's language. Pure.

Accepts any decimal digits, signs and marks. Refuses an ambiguous spelling: on a German page `1.000`
may mean a thousand or, in the notation of programs, one. The page's own decimal mark always counts
as one, because the page shows `1.125` in this way.
"""

import re
import unicodedata
from decimal import Decimal

from web.phrases import say

MAX_LENGTH = 40
_MINUS = "-\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d"
_BLANKS = " \u00a0\u2007\u2009\u202f"
_APOSTROPHES = "'\u2019\uff07"
# These marks have one meaning in every language.
_GROUP, _POINT = "'", "\u066b"
_PLAIN = str.maketrans(
    {
        **dict.fromkeys(_MINUS, "-"),
        **dict.fromkeys(_BLANKS + _APOSTROPHES + "\u066c", _GROUP),
        "\uff0b": "+",
        "\uff0c": ",",
        "\uff0e": ".",
    }
)
_NUMBER = re.compile(r"([+-]?)([0-9'\u066b.,]*[0-9])")
_GROUPS = re.compile(r"[1-9][0-9]{0,2}(['.,])[0-9]{3}(?:\1[0-9]{3})*")
_DIGITS = re.compile(r"[0-9]*")
_ENDS = ("Cf", "Zs", "Cc")


class NotANumber(ValueError):
    """The text is no number."""


class AmbiguousNumber(ValueError):
    """The text is ambiguous: it could mean `whole` or `decimal`."""

    def __init__(self, whole: Decimal, decimal: Decimal) -> None:
        super().__init__(whole, decimal)
        self.whole, self.decimal = whole, decimal


def read_number(typed: str, *, point: str, is_whole: bool = False) -> Decimal:
    """Returns the number. `point` is the decimal mark of the page.

    In a field for whole numbers (`is_whole`) the other mark separates thousands, as the page shows
    them, and the page's decimal mark before three digits is ambiguous. Raises NotANumber,
    AmbiguousNumber.
    """
    text = _to_plain(typed)
    match = _NUMBER.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        raise NotANumber(typed)
    sign, digits = match[1], match[2]
    whole, mark, places = _split(digits)
    if mark in (".", ",") and len(places) == 3 and _GROUPS.fullmatch(digits):
        if is_whole and mark != point:
            whole, places = whole + places, ""
        elif is_whole or mark != point:
            least = Decimal(f"{sign}{whole}.{places}").normalize()
            raise AmbiguousNumber(Decimal(sign + whole + places), least)
    return Decimal(f"{sign}{_join(whole)}.{places}" if places else sign + _join(whole))


def write_number(number: float | Decimal, *, point: str) -> str:
    """Writes a number as `read_number` reads it, without an exponent."""
    decimal = number if isinstance(number, Decimal) else Decimal(str(number))
    return format(decimal, "f").replace(".", point)


def explain(error: AmbiguousNumber, *, point: str) -> str:
    """Returns the sentence that shows how to write each of the two numbers."""
    return say(
        "This could be two numbers. Write %(whole)s or %(decimal)s.",
        whole=write_number(error.whole, point=point),
        decimal=write_number(error.decimal, point=point),
    )


def _to_plain(typed: str) -> str:
    """Returns the text with ASCII digits and signs; nothing invisible is left at its ends."""
    start, end = 0, len(typed)
    while start < end and unicodedata.category(typed[start]) in _ENDS:
        start += 1
    while end > start and unicodedata.category(typed[end - 1]) in _ENDS:
        end -= 1
    # isdecimal() excludes '²' and '①', which do not stand for a digit of a number
    return "".join(
        str(unicodedata.decimal(each)) if each.isdecimal() else each
        for each in typed[start:end].translate(_PLAIN)
    )


def _split(digits: str) -> tuple[str, str, str]:
    """Splits at the last mark if it is a decimal one: the whole part, the mark, the places."""
    marks = [each for each in digits if not each.isdecimal()]
    last = marks[-1] if marks else ""
    if last in ("", _GROUP) or (last != _POINT and marks.count(last) == len(marks) > 1):
        return digits, "", ""
    whole, _, places = digits.rpartition(last)
    return whole, last, places


def _join(whole: str) -> str:
    """Returns the digits of a whole part without marks between thousands. Raises NotANumber."""
    if _DIGITS.fullmatch(whole):
        return whole or "0"
    if not _GROUPS.fullmatch(whole):
        raise NotANumber(whole)
    return re.sub("['.,]", "", whole)
