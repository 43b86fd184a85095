"""The response type for free text."""

from dataclasses import dataclass

from reviews.policy import FIRST
from reviews.response_types.base import Example, OneField, Schema, Setting
from reviews.response_types.faults import InvalidAnswer, InvalidConfiguration, InvalidDefault
from reviews.response_types.fields import Config, read_flag, read_integer, read_string
from reviews.response_types.posted import unify_newlines
from reviews.response_types.widgets import TextArea, get_first
from reviews.response_types.wording import count_characters, format_rule
from web.phrases import Count, say
from web.sanitize import UNSTORABLE

MAX_TEXT_LENGTH = 10_000
_LENGTH: Schema = {"type": "integer", "minimum": 0, "maximum": MAX_TEXT_LENGTH}


@dataclass(frozen=True, slots=True)
class TextBounds:
    """Lengths in code points; if `required` is false, '' is an answer too."""

    minimum: int
    maximum: int
    placeholder: str
    required: bool


class Text(OneField):
    """Free text; '' if the reviewer leaves an optional answer empty."""

    name = "text"
    label = say("Text")
    description = "Free text."
    settings = (
        Setting("placeholder", {"type": "string"}, say("Placeholder"), kind="text"),
        Setting("min_length", _LENGTH, say("Minimum length")),
        Setting(
            "max_length",
            {**_LENGTH, "minimum": 1, "default": MAX_TEXT_LENGTH},
            say("Maximum length"),
        ),
    )
    required_by_default = True
    default_schema = {"type": "string"}
    answer_noun = "a string"
    example = Example({"max_length": 500, "placeholder": "Why?"}, "")

    rules = (FIRST,)

    def read_bounds(self, config: Config) -> TextBounds:
        """Reads the bounds; the default maximum is 10,000 characters."""
        placeholder = read_string(config, "placeholder")
        minimum = read_integer(config, "min_length", low=0, high=MAX_TEXT_LENGTH, default=0)
        maximum = read_integer(
            config, "max_length", low=1, high=MAX_TEXT_LENGTH, default=MAX_TEXT_LENGTH
        )
        required = read_flag(config, "required", default=self.required_by_default)
        if minimum > maximum:
            raise InvalidConfiguration(
                say(
                    "%(field)s must not be greater than %(other)s",
                    field="min_length",
                    other="max_length",
                )
            )
        return TextBounds(minimum, maximum, placeholder, required)

    def check_configuration(self, config: Config) -> None:
        self.read_bounds(config)

    def check_default(self, config: Config, default: object) -> None:
        if not isinstance(default, str):
            raise InvalidDefault(say("%(field)s must be a string", field="default_response"))

    def check_answer(self, config: Config, answer: object) -> str:
        bounds = self.read_bounds(config)
        text = "" if answer is None else answer
        if not isinstance(text, str):
            raise InvalidAnswer(say("The answer must be text"))
        if bounds.required and not text.strip():
            raise InvalidAnswer(say("Write an answer"))
        if UNSTORABLE.search(text):
            raise InvalidAnswer(say("The answer contains a character that cannot be stored"))
        # The minimum does not apply to an empty optional answer.
        if text and len(text) < bounds.minimum:
            least = count_characters(bounds.minimum)
            raise InvalidAnswer(
                say("The answer must have at least %(characters)s", characters=least)
            )
        if len(text) > bounds.maximum:
            most = count_characters(bounds.maximum)
            raise InvalidAnswer(say("The answer must have at most %(characters)s", characters=most))
        return text

    def read_posted(self, config: Config, posted: str, *, point: str) -> str:
        # Line breaks are unified before lengths are counted.
        return unify_newlines(posted)

    def read_default(self, typed: str, *, point: str) -> str:
        return typed

    def build_widget(self, config: Config, typed: list[str]) -> TextArea:
        bounds = self.read_bounds(config)
        most = Count(bounds.maximum)
        rule = say("Up to %(most)s characters", most=most)
        if bounds.minimum > 1:
            rule = say("%(least)s to %(most)s characters", least=bounds.minimum, most=most)
        if bounds.minimum == bounds.maximum:
            rule = say("Exactly %(most)s characters", most=most)
        return TextArea(
            rule=format_rule(rule, required=bounds.required, nothing=say("nothing")),
            typed=get_first(typed),
            placeholder=bounds.placeholder,
            least=bounds.minimum,
            most=bounds.maximum,
        )
