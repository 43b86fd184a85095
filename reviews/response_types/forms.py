"""Answers as a form posts them: strings, from a browser or from somebody pretending to be one."""

import re
from decimal import Decimal

from reviews.response_types.answers import Answer, check_answer
from reviews.response_types.configuration import newlines_unified, options
from reviews.response_types.decimals import exact
from reviews.response_types.faults import InvalidAnswer
from reviews.response_types.fields import Config

# ASCII digits only: \d would let through '٣'. Longer numbers than this nobody means.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]+)?|[.,][0-9]+)")
_LONGEST_NUMBER = 40
# In Berlin '1,250' is one and a quarter, in London it is a thousand more: ask, do not guess.
_AMBIGUOUS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")


def parse_answer(response_type: str, config: Config, raw: list[str]) -> Answer:
    """What `check_answer` returns, from all the values posted under the answer's field name.

    Line breaks become LF before lengths are counted. Numbers may have blanks around them and a
    decimal comma, but no exponent.
    """
    if response_type == "multi_select":
        answer: object = [_chosen(config, value) for value in raw]
    elif len(raw) > 1:
        raise InvalidAnswer("Give one answer only")
    elif not raw:
        answer = None
    elif response_type == "single_select":
        answer = _chosen(config, raw[0])
    elif response_type == "text":
        answer = newlines_unified(raw[0])
    else:
        answer = _number(raw[0])
    return check_answer(response_type, config, answer)


def _chosen(config: Config, posted: str) -> str:
    """The option's value with the line breaks that it was configured with."""
    posted = newlines_unified(posted)
    for option in options(config):
        if newlines_unified(option.value) == posted:
            return option.value
    return posted


def _number(posted: str) -> int | float | None:
    text = posted.strip()
    if not text:
        return None
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
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
