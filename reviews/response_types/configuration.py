"""Reads `response_config`: each answer type's bounds, or the field that is wrong.

Specification, "Response configuration"; resolved gaps 5, 25 and 26. Fields are judged in the
order of the specification's table, and each by itself before two are compared. A null counts as
absent, since client libraries send one for what was not set. Unknown keys are left alone.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from reviews.response_types.decimals import places
from reviews.response_types.faults import InvalidConfiguration
from reviews.response_types.fields import Config, decimal, flag, given, integer, string

MAX_OPTIONS = 100
MAX_TEXT_LENGTH = 10_000
MAX_DECIMAL_PLACES = 10
MAX_RATING_STEPS = 1_000
# Within these a rating is a decimal of eleven digits: doubles keep it exact, and none is written
# with an exponent in a form.
MAX_RATING = 1_000_000
MAX_RATING_PLACES = 4


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str


@dataclass(frozen=True, slots=True)
class MultiBounds:
    """How many options; where `required` is false, none at all is an answer too."""

    minimum: int
    maximum: int
    required: bool


@dataclass(frozen=True, slots=True)
class RatingBounds:
    """The steps count from the minimum; the maximum need not lie on one."""

    minimum: Decimal
    maximum: Decimal
    step: Decimal


@dataclass(frozen=True, slots=True)
class NumberBounds:
    """Both ends belong to the range."""

    minimum: Decimal
    maximum: Decimal
    decimal_places: int


@dataclass(frozen=True, slots=True)
class TextBounds:
    """Lengths in code points; where `required` is false, '' is an answer too."""

    minimum: int
    maximum: int
    placeholder: str
    required: bool


def check_configuration(response_type: str, config: Config) -> None:
    """Raise InvalidConfiguration, with the field in its sentence, unless people can answer it."""
    _READERS[response_type](config)


def options(config: Config) -> list[Option]:
    """The options of either select type, a plain string as its own label."""
    listed = config.get("options")
    if not isinstance(listed, list) or not listed:
        raise InvalidConfiguration("options array required for select response type")
    if len(listed) > MAX_OPTIONS:
        raise InvalidConfiguration(f"options must have between 1 and {MAX_OPTIONS} entries")
    found: list[Option] = []
    seen: set[str] = set()
    for index, entry in enumerate(listed):
        option = _option(f"options[{index}]", entry)
        posted = newlines_unified(option.value)
        if posted in seen:
            raise InvalidConfiguration(f"options[{index}].value must be unique")
        seen.add(posted)
        found.append(option)
    return found


def newlines_unified(text: str) -> str:
    """With LF alone. Browsers post CRLF for every line break, in option values too, so values
    that differ in nothing else cannot be told apart."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def multi_bounds(config: Config) -> MultiBounds:
    """One option at least and all of them at most, where the configuration says nothing."""
    count = len(options(config))
    minimum = integer(config, "min_selections", low=0, high=count, default=0)
    maximum = integer(config, "max_selections", low=1, high=count, default=count)
    required = flag(config, "required", default=True)
    if minimum > maximum:
        raise InvalidConfiguration("min_selections must not be greater than max_selections")
    return MultiBounds(max(minimum, 1), maximum, required)


def rating_bounds(config: Config) -> RatingBounds:
    """`max` and `min` stand in for scale_max and scale_min where those are missing."""
    maximum = Decimal(integer(config, "scale_max", "max", low=-MAX_RATING, high=MAX_RATING))
    minimum = decimal(config, "scale_min", "min", default=1)
    step = decimal(config, "scale_step", default=1)
    flag(config, "required", default=False)
    if step <= 0:
        raise InvalidConfiguration("scale_step must be greater than 0")
    for field, number in (("scale_min", minimum), ("scale_step", step)):
        if places(number) > MAX_RATING_PLACES:
            raise InvalidConfiguration(
                f"{field} must have at most {MAX_RATING_PLACES} decimal places"
            )
    if minimum >= maximum:
        raise InvalidConfiguration(f"scale_min ({minimum}) must be less than scale_max ({maximum})")
    if minimum < -MAX_RATING:
        raise InvalidConfiguration(f"scale_min must be at least {-MAX_RATING}")
    if step > maximum - minimum:
        raise InvalidConfiguration("scale_step must not be greater than scale_max - scale_min")
    if step * MAX_RATING_STEPS < maximum - minimum:
        raise InvalidConfiguration(
            f"scale_step must make at most {MAX_RATING_STEPS} steps from scale_min to scale_max"
        )
    return RatingBounds(minimum, maximum, step)


def rating_steps(config: Config) -> list[int | float]:
    """Every rating that can be given, lowest first, as JSON numbers; at most 1,001 of them."""
    bounds = rating_bounds(config)
    count = int((bounds.maximum - bounds.minimum) // bounds.step) + 1
    ratings = (bounds.minimum + index * bounds.step for index in range(count))
    return [int(rating) if places(rating) == 0 else float(rating) for rating in ratings]


def number_bounds(config: Config) -> NumberBounds:
    """`max` and `min` stand in for max_value and min_value where those are missing.

    The minimum is 1 by default, −max_value where negative numbers are allowed. A range that
    holds no number of so few decimal places is refused: nobody could answer.
    """
    maximum = decimal(config, "max_value", "max")
    lowest = decimal(config, "min_value", "min") if given(config, "min_value", "min") else None
    digits = integer(config, "decimal_places", low=0, high=MAX_DECIMAL_PLACES, default=2)
    negative = flag(config, "allow_negative", default=False)
    flag(config, "required", default=False)
    if lowest is None:
        lowest = _opposite(maximum) if negative else Decimal(1)
    elif lowest < 0 and not negative:
        raise InvalidConfiguration("min_value must not be negative unless allow_negative is true")
    if lowest > maximum:
        raise InvalidConfiguration(f"max_value must not be less than min_value ({lowest})")
    scale = 10**digits
    if math.ceil(Fraction(lowest) * scale) > math.floor(Fraction(maximum) * scale):
        raise InvalidConfiguration(
            "decimal_places must leave a number between min_value and max_value"
        )
    return NumberBounds(lowest, maximum, digits)


def text_bounds(config: Config) -> TextBounds:
    """Up to 10,000 characters, where the configuration says nothing."""
    placeholder = string(config, "placeholder")
    minimum = integer(config, "min_length", low=0, high=MAX_TEXT_LENGTH, default=0)
    maximum = integer(config, "max_length", low=1, high=MAX_TEXT_LENGTH, default=MAX_TEXT_LENGTH)
    required = flag(config, "required", default=True)
    if minimum > maximum:
        raise InvalidConfiguration("min_length must not be greater than max_length")
    return TextBounds(minimum, maximum, placeholder, required)


def _opposite(number: Decimal) -> Decimal:
    # The minus sign would round to 28 digits, and write 0 as -0.
    return number.copy_negate() if number else number


def _single(config: Config) -> None:
    options(config)
    flag(config, "required", default=True)


def _option(name: str, entry: Any) -> Option:
    if isinstance(entry, str):
        return Option(_label(name, entry), entry)
    if not isinstance(entry, dict):
        raise InvalidConfiguration(f"{name} must be a string or an object with value and label")
    value = _label(f"{name}.value", entry.get("value"))
    return Option(value, _label(f"{name}.label", entry.get("label")))


def _label(name: str, text: Any) -> str:
    if text is not None and not isinstance(text, str):
        raise InvalidConfiguration(f"{name} must be a string")
    # Blanks alone count as missing (resolved gap 6): nobody could see such a choice.
    if not text or text.isspace():
        raise InvalidConfiguration(f"{name} is required")
    return str(text)


_READERS: dict[str, Callable[[Config], object]] = {
    "text": text_bounds,
    "single_select": _single,
    "multi_select": multi_bounds,
    "rating": rating_bounds,
    "number": number_bounds,
}
RESPONSE_TYPES = tuple(_READERS)
