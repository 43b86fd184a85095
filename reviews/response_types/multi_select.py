"""The response type for several options."""

from dataclasses import dataclass
from typing import Any

from reviews.response_types import options
from reviews.response_types.base import Example, OneField, Schema, Setting
from reviews.response_types.faults import InvalidAnswer, InvalidConfiguration
from reviews.response_types.fields import Config, read_flag, read_integer
from reviews.response_types.posted import read_lines
from reviews.response_types.widgets import Checkboxes
from reviews.response_types.wording import count_options, format_rule
from web.phrases import say

_SELECTIONS: Schema = {"type": "integer", "minimum": 0, "maximum": options.MAX_OPTIONS}


@dataclass(frozen=True, slots=True)
class MultiBounds:
    """How many options to choose; if `required` is false, none is an answer too."""

    minimum: int
    maximum: int
    required: bool


class MultiSelect(OneField):
    """The values of several options, in the options' order."""

    name = "multi_select"
    label = say("Several options")
    description = "Several of the options."
    settings = (
        options.OPTIONS,
        Setting("min_selections", _SELECTIONS, say("At least")),
        Setting("max_selections", {**_SELECTIONS, "minimum": 1}, say("At most")),
    )
    required_by_default = True
    default_schema = {
        "anyOf": [
            {"type": "string"},
            {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
        ],
        "description": "The value of an option, or several in a list.",
    }
    answer_noun = "a list of option values"
    example = Example({"options": ["late", "broken", "wrong"], "max_selections": 2}, "broken")

    def read_bounds(self, config: Config) -> MultiBounds:
        """Reads the bounds; the defaults are one option and all options."""
        count = len(options.read_options(config))
        minimum = read_integer(config, "min_selections", low=0, high=count, default=0)
        maximum = read_integer(config, "max_selections", low=1, high=count, default=count)
        required = read_flag(config, "required", default=self.required_by_default)
        if minimum > maximum:
            raise InvalidConfiguration(
                say(
                    "%(field)s must not be greater than %(other)s",
                    field="min_selections",
                    other="max_selections",
                )
            )
        return MultiBounds(max(minimum, 1), maximum, required)

    def check_configuration(self, config: Config) -> None:
        self.read_bounds(config)

    def check_default(self, config: Config, default: object) -> None:
        # One value or a list of values; an empty list matches no option.
        options.check_chosen(config, default if isinstance(default, list) else [default])

    def check_answer(self, config: Config, answer: object) -> list[str]:
        bounds = self.read_bounds(config)
        offered = [option.value for option in options.read_options(config)]
        chosen = [] if answer is None else answer
        if not isinstance(chosen, list) or not all(
            isinstance(value, str) and value in offered for value in chosen
        ):
            raise InvalidAnswer(say("Choose only from the options"))
        if len(set(chosen)) < len(chosen):
            raise InvalidAnswer(say("Choose each option only once"))
        if not chosen and not bounds.required:
            return []
        if len(chosen) < bounds.minimum:
            raise InvalidAnswer(
                say("Choose at least %(options)s", options=count_options(bounds.minimum))
            )
        if len(chosen) > bounds.maximum:
            raise InvalidAnswer(
                say("Choose at most %(options)s", options=count_options(bounds.maximum))
            )
        return [value for value in offered if value in chosen]

    def parse_answer(self, config: Config, posted: list[str], *, point: str = ".") -> list[str]:
        return self.check_answer(config, [options.find_value(config, each) for each in posted])

    def read_default(self, typed: str, *, point: str) -> list[str]:
        return read_lines(typed)

    def list_values(self, config: Config) -> list[str]:
        return [option.value for option in options.read_options(config)]

    def get_labels(self, config: Config, values: list[Any]) -> list[str]:
        return options.find_labels(config, values)

    def build_widget(self, config: Config, typed: list[str]) -> Checkboxes:
        bounds = self.read_bounds(config)
        choices = options.build_choices(config, typed)
        if bounds.minimum == bounds.maximum:
            is_all = bounds.minimum == len(choices) > 1
            rule = say("Choose all") if is_all else say("Choose %(count)s", count=bounds.minimum)
        elif bounds.maximum == len(choices):
            rule = say("Choose at least %(count)s", count=bounds.minimum)
        else:
            rule = say("Choose %(least)s to %(most)s", least=bounds.minimum, most=bounds.maximum)
        return Checkboxes(
            rule=format_rule(rule, required=bounds.required, nothing=say("none")),
            choices=choices,
            least=bounds.minimum,
            most=bounds.maximum,
        )
