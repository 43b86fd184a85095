"""Strings that a form posts, from a browser or from somebody pretending to be one."""

import json
import re
from decimal import Decimal
from typing import Any

from reviews.response_types.decimals import exact
from reviews.response_types.faults import InvalidAnswer

# ASCII digits only: \d would let through '٣'. Longer numbers than this nobody means.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]+)?|[.,][0-9]+)")
_MAX_NUMBER_LENGTH = 40
# In Berlin '1,250' is one and a quarter, in London it is a thousand more: ask, do not guess.
_AMBIGUOUS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?\Z")
_MAX_JSON_LENGTH = 1000  # Python reads no longer ones


def unify_newlines(text: str) -> str:
    """The text with LF alone. Browsers post CRLF for every line break, in option values too, so
    values that differ in nothing else cannot be told apart."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_number(posted: str) -> int | float | None:
    """The number that a reviewer typed, None for none. Raises InvalidAnswer.

    There may be blanks around it and a decimal comma in it, but no exponent.
    """
    text = posted.strip()
    if not text:
        return None
    if len(text) > _MAX_NUMBER_LENGTH or not _NUMBER.fullmatch(text):
        raise InvalidAnswer("Enter a number in plain digits, like 5 or -3.25")
    if _AMBIGUOUS.fullmatch(text):
        raise InvalidAnswer("Enter the number without a comma between thousands, like 1000")
    typed = Decimal(text.replace(",", "."))
    if typed == typed.to_integral_value():
        return int(typed)
    number = float(typed)
    # A double would quietly drop digits that the reviewer typed.
    if exact(number) != typed:
        raise InvalidAnswer("The number has too many digits")
    return number


def read_json_number(typed: str) -> Any:
    """The JSON number that was typed; anything else stays a string, for the API to refuse."""
    text = typed.strip().replace(",", ".")
    is_number = len(text) <= _MAX_JSON_LENGTH and _JSON_NUMBER.match(text)
    return json.loads(text) if is_number else typed.strip()


def read_lines(text: str) -> list[str]:
    """The lines that hold something, without the blanks around them. Line breaks are LF."""
    return [line.strip() for line in text.split("\n") if line.strip()]
