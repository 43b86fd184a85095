"""Converts JSON numbers to exact decimals, so that ten steps of 0.1 make exactly 1."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

from reviews.policy import RULES
from reviews.response_types.faults import InvalidDefault
from web.phrases import say

# Above this a double cannot represent every integer.
_EXACT_INTEGERS = 2**53


def to_json_number(value: Any) -> int | float | None:
    """Returns the finite number, 5.0 as 5, or None for any other value, booleans included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        finite = math.isfinite(value)
    except OverflowError:  # an integer too large for a double
        return None
    if not finite:
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_INTEGERS:
        return int(value)
    return value


def to_decimal(number: float) -> Decimal:
    """Converts the shortest notation of the number (0.1, not 0.1000000000000000055)."""
    return Decimal(number) if isinstance(number, int) else Decimal(repr(number))


def count_places(number: Decimal) -> int:
    """Counts the digits after the point, without trailing zeros."""
    return max(0, -int(number.normalize().as_tuple().exponent))


def check_default_number(default: object) -> None:
    """Raises InvalidDefault unless the default is a number."""
    if to_json_number(default) is None:
        raise InvalidDefault(say("%(field)s must be a number", field="default_response"))


class Comparable:
    """The part of a response type by which a policy compares and orders numbers, exactly."""

    rules: ClassVar[tuple[str, ...]] = RULES
    has_vetoes: ClassVar[bool] = True

    def get_key(self, answer: Any) -> str:
        return str(Fraction(to_decimal(answer)))

    def get_number(self, answer: Any) -> Decimal | None:
        return to_decimal(answer)
