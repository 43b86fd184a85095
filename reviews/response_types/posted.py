"""Parses strings posted by a form. They may come from any client, not only a browser."""

from reviews.response_types.decimals import to_decimal
from reviews.response_types.faults import InvalidAnswer
from web import typed_numbers
from web.phrases import say


class Unreadable(InvalidAnswer):
    """The text is no number."""


def unify_newlines(text: str) -> str:
    """Replaces every line break by LF.

    Browsers post CRLF for every line break, so option values that differ only in line breaks are
    equal.
    """
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_number(posted: str, *, point: str, is_whole: bool = False) -> int | float | None:
    """Parses the number that a person typed, None for an empty string. Raises InvalidAnswer.

    `point` is the decimal mark of the page. An exponent is not allowed.
    """
    if not posted.strip():
        return None
    try:
        typed = typed_numbers.read_number(posted, point=point, is_whole=is_whole)
    except typed_numbers.NotANumber:
        raise Unreadable(say("Enter a number in plain digits, like 5 or -3.25")) from None
    except typed_numbers.AmbiguousNumber as error:
        raise InvalidAnswer(typed_numbers.explain(error, point=point)) from None
    if typed == typed.to_integral_value():
        return int(typed)
    number = float(typed)
    # A double would silently drop digits that the person typed.
    if to_decimal(number) != typed:
        raise InvalidAnswer(say("The number has too many digits"))
    return number


def read_lines(text: str) -> list[str]:
    """Returns the lines that are not blank, stripped. Line breaks are LF."""
    return [line.strip() for line in text.split("\n") if line.strip()]
