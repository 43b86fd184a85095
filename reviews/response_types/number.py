"""The response type for a number within bounds."""

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from reviews.response_types import wording
from reviews.response_types.base import Example, OneField, Setting
from reviews.response_types.decimals import (
    Comparable,
    check_default_number,
    count_places,
    to_decimal,
    to_json_number,
)
from reviews.response_types.faults import InvalidAnswer, InvalidConfiguration
from reviews.response_types.fields import Config, is_set, read_decimal, read_flag, read_integer
from reviews.response_types.posted import read_number
from reviews.response_types.widgets import NumberField, build_number_field
from web.phrases import say

MAX_DECIMAL_PLACES = 10


@dataclass(frozen=True, slots=True)
class NumberBounds:
    """The range with both ends, and the number of decimal places."""

    minimum: Decimal
    maximum: Decimal
    decimal_places: int


class Number(Comparable, OneField):
    """A number with limited decimal places; whole numbers as integers."""

    name = "number"
    label = say("Number")
    description = (
        "A number within bounds. The aliases `max` and `min` of max_value and min_value are "
        "accepted too. With allow_negative the default of min_value is −max_value."
    )
    settings = (
        Setting("min_value", {"type": "number", "default": 1}, say("Minimum")),
        Setting("max_value", {"type": "number"}, say("Maximum"), is_mandatory=True),
        Setting(
            "decimal_places",
            {"type": "integer", "minimum": 0, "maximum": MAX_DECIMAL_PLACES, "default": 2},
            say("Decimal places"),
        ),
        Setting(
            "allow_negative",
            {"type": "boolean", "default": False},
            say("Allow negative numbers"),
            kind="flag",
        ),
    )
    required_by_default = False
    default_schema = {"type": "number"}
    answer_noun = "a number"
    example = Example({"max_value": 80, "min_value": 0}, 0)

    def read_bounds(self, config: Config) -> NumberBounds:
        """Reads the bounds. `max` and `min` are aliases of max_value and min_value.

        The default minimum is 1, or −max_value if negative numbers are allowed. Refuses a range
        that contains no number with so few decimal places, because nobody could answer.
        """
        maximum = read_decimal(config, "max_value", "max")
        lowest = (
            read_decimal(config, "min_value", "min") if is_set(config, "min_value", "min") else None
        )
        digits = read_integer(config, "decimal_places", low=0, high=MAX_DECIMAL_PLACES, default=2)
        negative = read_flag(config, "allow_negative", default=False)
        read_flag(config, "required", default=self.required_by_default)
        if lowest is None:
            lowest = _opposite(maximum) if negative else Decimal(1)
        elif lowest < 0 and not negative:
            raise InvalidConfiguration(
                say(
                    "%(field)s must not be negative unless %(other)s is true",
                    field="min_value",
                    other="allow_negative",
                )
            )
        if lowest > maximum:
            raise InvalidConfiguration(
                say(
                    "%(field)s must not be less than %(other)s (%(least)s)",
                    field="max_value",
                    other="min_value",
                    least=lowest,
                )
            )
        scale = 10**digits
        if math.ceil(Fraction(lowest) * scale) > math.floor(Fraction(maximum) * scale):
            raise InvalidConfiguration(
                say(
                    "%(field)s must leave a number between %(other)s and %(other2)s",
                    field="decimal_places",
                    other="min_value",
                    other2="max_value",
                )
            )
        return NumberBounds(lowest, maximum, digits)

    def check_configuration(self, config: Config) -> None:
        self.read_bounds(config)

    def check_default(self, config: Config, default: object) -> None:
        check_default_number(default)

    def check_answer(self, config: Config, answer: object) -> int | float:
        bounds = self.read_bounds(config)
        number = to_json_number(answer)
        if number is None:
            raise InvalidAnswer(say("Enter a number"))
        value = to_decimal(number)
        if not bounds.minimum <= value <= bounds.maximum:
            raise InvalidAnswer(
                say(
                    "The number must be between %(least)s and %(most)s",
                    least=bounds.minimum,
                    most=bounds.maximum,
                )
            )
        if count_places(value) > bounds.decimal_places:
            if bounds.decimal_places == 0:
                raise InvalidAnswer(say("The number must be a whole number"))
            places = wording.count_places(bounds.decimal_places)
            raise InvalidAnswer(say("The number must have at most %(places)s", places=places))
        return number

    def read_posted(self, config: Config, posted: str, *, point: str) -> int | float | None:
        is_whole = self.read_bounds(config).decimal_places == 0
        return read_number(posted, point=point, is_whole=is_whole)

    def read_default(self, typed: str, *, point: str) -> object:
        return read_number(typed, point=point)

    def build_widget(self, config: Config, typed: list[str]) -> NumberField:
        bounds = self.read_bounds(config)
        digits = bounds.decimal_places
        range_ = {"least": bounds.minimum, "most": bounds.maximum}
        rule = say("A whole number from %(least)s to %(most)s", **range_)
        if digits:
            rule = say(
                "A number from %(least)s to %(most)s, with at most %(places)s",
                places=wording.count_places(digits),
                **range_,
            )
        field = build_number_field(rule, bounds.minimum, typed)
        return field if digits or field.is_signed else replace(field, keyboard="numeric")


def _opposite(number: Decimal) -> Decimal:
    # Unary minus would round to 28 digits and turn 0 into -0.
    return number.copy_negate() if number else number
