"""The response type for one of several options."""

from typing import Any

from reviews.response_types import options
from reviews.response_types.base import BulkAnswer, Example, OneField
from reviews.response_types.faults import InvalidAnswer
from reviews.response_types.fields import Config, read_flag
from reviews.response_types.widgets import Radio
from web.phrases import say


class SingleSelect(OneField):
    """The value of one option."""

    name = "single_select"
    label = say("One option")
    description = "One of the options."
    settings = (options.OPTIONS,)
    required_by_default = True
    default_schema = {"type": "string", "description": "The value of an option."}
    answer_noun = "a string"
    takes_bulk_answers = True
    example = Example(
        {
            "options": [
                {"value": "refund", "label": "Refund it"},
                {"value": "decline", "label": "Decline"},
            ]
        },
        "decline",
    )

    has_vetoes = True

    def check_configuration(self, config: Config) -> None:
        options.read_options(config)
        read_flag(config, "required", default=self.required_by_default)

    def check_default(self, config: Config, default: object) -> None:
        options.check_chosen(config, [default])

    def check_answer(self, config: Config, answer: object) -> str:
        offered = [option.value for option in options.read_options(config)]
        if not isinstance(answer, str) or answer not in offered:
            raise InvalidAnswer(say("Choose one of the options"))
        return answer

    def read_posted(self, config: Config, posted: str, *, point: str) -> str:
        return options.find_value(config, posted)

    def list_values(self, config: Config) -> list[str]:
        return [option.value for option in options.read_options(config)]

    def list_bulk_answers(self, config: Config) -> list[BulkAnswer]:
        read = options.read_options(config)
        return [BulkAnswer(option.value, option.label, option.value) for option in read]

    def get_labels(self, config: Config, values: list[Any]) -> list[str]:
        return options.find_labels(config, values)

    def build_widget(self, config: Config, typed: list[str]) -> Radio:
        return Radio(choices=options.build_choices(config, typed))
