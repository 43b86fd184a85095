"""Parses strings posted by a form. They may come from any client, not only a browser."""

import json
import re
from decimal import Decimal
from typing import Any

from reviews.response_types.decimals import to_decimal
from reviews.response_types.faults import InvalidAnswer
from web.phrases import say

# ASCII digits only: \d would accept '٣'.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]+)?|[.,][0-9]+)")
_MAX_NUMBER_LENGTH = 40
# '1,250' is 1.25 in Germany and 1250 in Britain, so it is refused.
_AMBIGUOUS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?\Z")
_MAX_JSON_LENGTH = 1000  # Python refuses to parse much longer integers


def unify_newlines(text: str) -> str:
    """Replaces every line break by LF.

    Browsers post CRLF for every line break, so option values that differ only in line breaks are
    equal.
    """
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_number(posted: str) -> int | float | None:
    """Parses the number that a reviewer typed, None for an empty string. Raises InvalidAnswer.

    Blanks around it and a decimal comma are allowed, an exponent is not.
    """
    text = posted.strip()
    if not text:
        return None
    if len(text) > _MAX_NUMBER_LENGTH or not _NUMBER.fullmatch(text):
        raise InvalidAnswer(say("Enter a number in plain digits, like 5 or -3.25"))
    if _AMBIGUOUS.fullmatch(text):
        raise InvalidAnswer(say("Enter the number without a comma between thousands, like 1000"))
    typed = Decimal(text.replace(",", "."))
    if typed == typed.to_integral_value():
        return int(typed)
    number = float(typed)
    # A double would silently drop digits that the reviewer typed.
    if to_decimal(number) != typed:
        raise InvalidAnswer(say("The number has too many digits"))
    return number


def read_json_number(typed: str) -> Any:
    """Parses a typed JSON number; anything else stays a string, which the API refuses."""
    text = typed.strip().replace(",", ".")
    is_number = len(text) <= _MAX_JSON_LENGTH and _JSON_NUMBER.match(text)
    return json.loads(text) if is_number else typed.strip()


def read_lines(text: str) -> list[str]:
    """Returns the lines that are not blank, stripped. Line breaks are LF."""
    return [line.strip() for line in text.split("\n") if line.strip()]
