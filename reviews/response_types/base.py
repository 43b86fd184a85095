"""The base class of response types: what a type must define, and what it may override."""

import json
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar, Literal

from reviews.policy import FIRST, MAJORITY, UNANIMOUS, Ballot
from reviews.response_types.faults import InvalidAnswer
from reviews.response_types.fields import Config
from reviews.response_types.widgets import Widget
from web.phrases import say

# The JSON values that an answer, and so `response_data`, can have.
Answer = str | int | float | list[str] | dict[str, Any]
Schema = dict[str, Any]
# What a form posted for an answer: the values of each field, by its name. A name is ANSWER, or
# begins with it and a dot.
Typed = Mapping[str, list[str]]
ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Page:
    """The page that a person types on: its decimal mark, and the person's time zone."""

    point: str = "."
    zone: tzinfo = UTC


@dataclass(frozen=True, slots=True)
class Setting:
    """One field of `response_config`: its JSON schema and its field in the dashboard's form.

    `kind` is the form field: a number, a line of text, a checkbox, one option per line, or a JSON
    object.
    """

    name: str
    schema: Schema
    label: str
    kind: Literal["number", "text", "flag", "options", "object"] = "number"
    initial: str = ""
    help_text: str = ""
    is_mandatory: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """An example configuration with its default, for the OpenAPI document."""

    config: dict[str, Any]
    default: Any


@dataclass(frozen=True, slots=True)
class BulkAnswer:
    """An answer that people may give to several requests at once. A form posts `value` for it."""

    value: str
    label: str
    answer: Answer


class ResponseType(ABC):
    """One kind of answer: its configuration, its valid answers and how they are shown.

    Methods that take a configuration parse it and raise InvalidConfiguration if it is not valid.
    `required` belongs to the configuration of every type.
    """

    name: ClassVar[str]  # in the API, 13 characters at most
    label: ClassVar[str]  # in the dashboard's form
    description: ClassVar[str]  # of the configuration, in the OpenAPI document
    settings: ClassVar[tuple[Setting, ...]]
    required_by_default: ClassVar[bool]
    default_schema: ClassVar[Schema]  # of `default_response`
    answer_noun: ClassVar[str]  # a description of `response_data`: "a string"
    takes_bulk_answers: ClassVar[bool] = False
    example: ClassVar[Example]
    rules: ClassVar[tuple[str, ...]] = (FIRST, MAJORITY, UNANIMOUS)  # that a policy may have
    has_vetoes: ClassVar[bool] = False
    is_object: ClassVar[bool] = False  # whether its answers are JSON objects

    @abstractmethod
    def check_configuration(self, config: Config) -> None:
        """Raises InvalidConfiguration, which names the field, unless people can answer."""

    @abstractmethod
    def check_default(self, config: Config, default: object) -> None:
        """Raises InvalidDefault unless `default` has the type of an answer.

        The bounds for reviewers do not apply to a default (docs/contract.md, `default.unbounded`).
        """

    @abstractmethod
    def check_answer(self, config: Config, answer: object) -> Answer:
        """Checks an answer and returns it as `response_data` (docs/contract.md, `answer`).

        Raises InvalidAnswer with a sentence for the reviewer.
        """

    @abstractmethod
    def parse_form(self, config: Config, typed: Typed, page: Page) -> Answer:
        """Parses all fields posted for the answer and checks them with `check_answer`.

        Raises InvalidAnswer, or InvalidFields with a sentence for each field.
        """

    @abstractmethod
    def build_form(
        self, config: Config, typed: Typed, page: Page, errors: Mapping[str, str]
    ) -> Widget:
        """Builds the widget of the reviewer's form, with the values typed so far.

        `errors` has the sentence of each field that was refused, by its name.
        """

    @abstractmethod
    def format_typed(self, config: Config, typed: Typed) -> str:
        """Formats the posted values, valid or not, for people to copy; '' for none."""

    def read_default(self, typed: str, *, point: str) -> object:
        """Parses a default typed in the dashboard, with LF as line break.

        Returns other values unchanged; `check_default` refuses them. Raises InvalidAnswer for an
        ambiguous or invalid number.
        """
        return typed.strip()

    def write_default(self, default: dict[str, Any]) -> str:
        """Writes a default that is an object as `read_default` reads it."""
        return json.dumps(default, indent=2, ensure_ascii=False)

    def build_ballot(self, answer: Any, veto: Sequence[Any]) -> Ballot:
        """Builds what a policy sees of a stored answer; `veto` has the votes that end it."""
        vote = self.get_vote(answer)
        return Ballot(
            key=self.get_key(answer),
            number=self.get_number(answer),
            is_veto=any(is_vote(vote, each) for each in veto),
        )

    def get_key(self, answer: Any) -> str:
        """Returns a string that equal answers share."""
        return json.dumps(answer)

    def get_number(self, answer: Any) -> Decimal | None:
        """Returns the number of which a policy may take the median."""
        return None

    def get_vote(self, answer: Any) -> Any:
        """Returns what a policy's `veto` names of an answer."""
        return answer

    def check_vote(self, config: Config, vote: object) -> None:
        """Raises InvalidAnswer unless an answer can have this vote."""
        self.check_answer(config, vote)

    def list_values(self, config: Config) -> list[str]:
        """Returns the options that an answer chooses from; none if there are no options."""
        return []

    def list_chosen(self, answer: object) -> list[object]:
        """Returns those of the options that a checked answer chooses."""
        return answer if isinstance(answer, list) else [answer]

    def list_bulk_answers(self, config: Config) -> list[BulkAnswer]:
        """Returns the answers for several requests at once, if `takes_bulk_answers`."""
        return []

    def get_bulk_subject(self, config: Config) -> Hashable:
        """Returns what else has to be the same in requests that are answered together."""
        return ""

    def get_labels(self, config: Config, values: list[Any]) -> list[str]:
        """Returns the label of each value of an answer."""
        return [str(value) for value in values]

    def list_parts(self, config: Config, answer: object) -> list[tuple[str, str]]:
        """Returns the parts of an answer of several fields for people: their titles and values."""
        return []

    def format_answer(self, config: Config, answer: object) -> str:
        """Formats an answer for people. It may be invalid: a draft or a default."""
        values = answer if isinstance(answer, list) else [answer]
        return ", ".join(self.get_labels(config, values)) or say("nothing")


class OneField(ResponseType):
    """A type whose form has a single field, named ANSWER, which may have several values."""

    def parse_form(self, config: Config, typed: Typed, page: Page) -> Answer:
        return self.parse_answer(config, typed.get(ANSWER, []), point=page.point)

    def build_form(
        self, config: Config, typed: Typed, page: Page, errors: Mapping[str, str]
    ) -> Widget:
        return self.build_widget(config, typed.get(ANSWER, []))

    def format_typed(self, config: Config, typed: Typed) -> str:
        values = typed.get(ANSWER, [])
        return self.format_answer(config, values) if any(values) else ""

    @abstractmethod
    def build_widget(self, config: Config, typed: list[str]) -> Widget:
        """Builds the widget of the reviewer's form, with the values typed so far."""

    def parse_answer(self, config: Config, posted: list[str], *, point: str = ".") -> Answer:
        """Parses all values posted as the answer and checks them with `check_answer`.

        `point` is the decimal mark of the page.
        """
        if len(posted) > 1:
            raise InvalidAnswer(say("Give one answer only"))
        answer = self.read_posted(config, posted[0], point=point) if posted else None
        return self.check_answer(config, answer)

    def read_posted(self, config: Config, posted: str, *, point: str) -> object:
        """Parses one posted string. Raises InvalidAnswer."""
        return posted


def are_equal(one: object, other: object) -> bool:
    """Tells whether two JSON values are equal; true is not 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def is_vote(vote: object, veto: object) -> bool:
    """Tells whether the vote is the veto.

    A loop's veto is typed for requests of all types, so the option "5" is also the number 5.
    """
    if isinstance(vote, str) and isinstance(veto, int | float) and not isinstance(veto, bool):
        try:
            return Decimal(vote.replace(",", ".")) == Decimal(repr(veto))
        except InvalidOperation:
            return False
    return are_equal(vote, veto)
