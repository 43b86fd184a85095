"""The response type for a step of a scale."""

from dataclasses import dataclass, replace
from decimal import Decimal

from reviews.response_types.base import Example, OneField, Setting
from reviews.response_types.decimals import (
    Comparable,
    check_default_number,
    count_places,
    to_decimal,
    to_json_number,
)
from reviews.response_types.faults import InvalidAnswer, InvalidConfiguration
from reviews.response_types.fields import Config, read_decimal, read_flag, read_integer
from reviews.response_types.posted import read_number
from reviews.response_types.widgets import Choice, NumberField, Radio, build_number_field
from web.phrases import say

MAX_STEPS = 1_000
# Within these limits a rating has at most eleven digits: a double is exact, and a form shows it
# without an exponent.
MAX_RATING = 1_000_000
MAX_PLACES = 4
# A scale with more steps has a number field with a slider instead of buttons.
MAX_BUTTONS = 11
MAX_STARS = 5


@dataclass(frozen=True, slots=True)
class RatingBounds:
    """The bounds of the scale. Steps count from the minimum; the maximum need not be a step."""

    minimum: Decimal
    maximum: Decimal
    step: Decimal


class Rating(Comparable, OneField):
    """A step of a scale, counted from its minimum; whole numbers as integers."""

    name = "rating"
    label = say("Rating")
    description = (
        "A step of a scale, counted from scale_min. The aliases `max` and `min` of scale_max and "
        "scale_min are accepted too."
    )
    settings = (
        Setting("scale_min", {"type": "number", "default": 1}, say("From"), initial="1"),
        Setting(
            "scale_max",
            {"type": "integer", "minimum": -MAX_RATING, "maximum": MAX_RATING},
            say("To"),
            initial="5",
            is_mandatory=True,
        ),
        Setting(
            "scale_step",
            {"type": "number", "exclusiveMinimum": 0, "default": 1},
            say("Step"),
            initial="1",
        ),
    )
    required_by_default = False
    default_schema = {"type": "number"}
    answer_noun = "a number"
    example = Example({"scale_max": 5}, 3)

    def read_bounds(self, config: Config) -> RatingBounds:
        """Reads the bounds. `max` and `min` are aliases of scale_max and scale_min."""
        maximum = Decimal(
            read_integer(config, "scale_max", "max", low=-MAX_RATING, high=MAX_RATING)
        )
        minimum = read_decimal(config, "scale_min", "min", default=1)
        step = read_decimal(config, "scale_step", default=1)
        read_flag(config, "required", default=self.required_by_default)
        _check_scale(minimum, maximum, step)
        return RatingBounds(minimum, maximum, step)

    def list_steps(self, config: Config) -> list[int | float]:
        """Lists every valid rating as a JSON number, lowest first; at most 1,001."""
        bounds = self.read_bounds(config)
        count = int((bounds.maximum - bounds.minimum) // bounds.step) + 1
        ratings = (bounds.minimum + index * bounds.step for index in range(count))
        return [int(rating) if count_places(rating) == 0 else float(rating) for rating in ratings]

    def check_configuration(self, config: Config) -> None:
        self.read_bounds(config)

    def check_default(self, config: Config, default: object) -> None:
        check_default_number(default)

    def check_answer(self, config: Config, answer: object) -> int | float:
        bounds = self.read_bounds(config)
        number = to_json_number(answer)
        if number is None:
            raise InvalidAnswer(say("Choose a rating"))
        rating = to_decimal(number)
        if not bounds.minimum <= rating <= bounds.maximum:
            raise InvalidAnswer(
                say(
                    "The rating must be between %(least)s and %(most)s",
                    least=bounds.minimum,
                    most=bounds.maximum,
                )
            )
        # Digits are checked first: the subtraction could round a wrong value onto a step.
        finest = max(count_places(bounds.minimum), count_places(bounds.step))
        if count_places(rating) > finest or (rating - bounds.minimum) % bounds.step:
            raise InvalidAnswer(
                say(
                    "The rating must go in steps of %(step)s from %(least)s",
                    step=bounds.step,
                    least=bounds.minimum,
                )
            )
        return number

    def read_posted(self, config: Config, posted: str, *, point: str) -> int | float | None:
        steps = self.list_steps(config)
        if len(steps) <= MAX_BUTTONS:  # the values of buttons are not in the page's language
            pressed = next((step for step in steps if str(step) == posted), None)
            if pressed is not None:
                return pressed
        return read_number(posted, point=point, is_whole=all(isinstance(s, int) for s in steps))

    def read_default(self, typed: str, *, point: str) -> object:
        return read_number(typed, point=point)

    def build_widget(self, config: Config, typed: list[str]) -> Radio | NumberField:
        bounds, steps = self.read_bounds(config), self.list_steps(config)
        rule = say("From %(least)s to %(most)s", least=bounds.minimum, most=bounds.maximum)
        if len(steps) > MAX_BUTTONS:
            field = build_number_field(
                say("%(rule)s in steps of %(step)s", rule=rule, step=bounds.step),
                bounds.minimum,
                typed,
            )
            return replace(field, least=bounds.minimum, most=steps[-1], step=bounds.step)
        choices = tuple(Choice(str(step), str(step), str(step) in typed) for step in steps)
        is_starry = steps == list(range(1, len(steps) + 1)) and len(steps) <= MAX_STARS
        return Radio(
            rule=say("%(rule)s.", rule=rule),
            choices=choices,
            layout="stars" if is_starry else "scale",
        )


def _check_scale(minimum: Decimal, maximum: Decimal, step: Decimal) -> None:
    if step <= 0:
        raise InvalidConfiguration(say("%(field)s must be greater than 0", field="scale_step"))
    for field, number in (("scale_min", minimum), ("scale_step", step)):
        if count_places(number) > MAX_PLACES:
            raise InvalidConfiguration(
                say(
                    "%(field)s must have at most %(most)s decimal places",
                    field=field,
                    most=MAX_PLACES,
                )
            )
    if minimum >= maximum:
        raise InvalidConfiguration(
            say(
                "%(field)s (%(least)s) must be less than %(other)s (%(most)s)",
                field="scale_min",
                least=minimum,
                other="scale_max",
                most=maximum,
            )
        )
    if minimum < -MAX_RATING:
        raise InvalidConfiguration(
            say("%(field)s must be at least %(least)s", field="scale_min", least=-MAX_RATING)
        )
    if step > maximum - minimum:
        raise InvalidConfiguration(
            say(
                "%(field)s must not be greater than %(other)s - %(other2)s",
                field="scale_step",
                other="scale_max",
                other2="scale_min",
            )
        )
    if step * MAX_STEPS < maximum - minimum:
        raise InvalidConfiguration(
            say(
                "%(field)s must make at most %(most)s steps from %(other)s to %(other2)s",
                field="scale_step",
                most=MAX_STEPS,
                other="scale_min",
                other2="scale_max",
            )
        )
