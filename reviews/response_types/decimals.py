"""JSON numbers as the decimals that people wrote, so that ten steps of 0.1 make exactly 1."""

import math
from decimal import Decimal
from typing import Any

from reviews.response_types.faults import InvalidDefault

# Beyond this a double no longer tells neighbouring integers apart.
_EXACT_INTEGERS = 2**53


def json_number(value: Any) -> int | float | None:
    """The finite number that `value` is, 5.0 as 5; None where it is none. A boolean is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        finite = math.isfinite(value)
    except OverflowError:  # an integer that no double holds
        return None
    if not finite:
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_INTEGERS:
        return int(value)
    return value


def exact(number: float) -> Decimal:
    """The decimal that the number's shortest notation shows (0.1, not 0.1000000000000000055)."""
    return Decimal(number) if isinstance(number, int) else Decimal(repr(number))


def places(number: Decimal) -> int:
    """Digits after the point, trailing zeros aside."""
    return max(0, -int(number.normalize().as_tuple().exponent))


def check_default_number(default: object) -> None:
    """Raise InvalidDefault unless the default is a number."""
    if json_number(default) is None:
        raise InvalidDefault("default_response must be a number")
