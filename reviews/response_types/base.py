"""The base of every response type: what a type must say, and what it may leave as it is."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from reviews.response_types.faults import InvalidAnswer
from reviews.response_types.fields import Config
from reviews.response_types.widgets import Widget

# What an answer is in JSON, and so what `response_data` can be.
Answer = str | int | float | list[str]
Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Setting:
    """One field of `response_config`: its JSON schema, and how the dashboard asks for it.

    `kind` is the form field: a number, a line of text, a checkbox, or options one in each line.
    """

    name: str
    schema: Schema
    label: str
    kind: Literal["number", "text", "flag", "options"] = "number"
    initial: str = ""
    help_text: str = ""
    is_mandatory: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """A configuration and a default that fit each other, for the OpenAPI document."""

    config: dict[str, Any]
    default: Any


class ResponseType(ABC):
    """One kind of answer: what a client may configure, what a reviewer may answer, how both look.

    Methods that take a configuration read it afresh and raise InvalidConfiguration where it was
    never checked. `required` belongs to the configuration of every type.
    """

    name: ClassVar[str]  # as the API writes it, 13 characters at most
    label: ClassVar[str]  # in the dashboard's form
    description: ClassVar[str]  # of the configuration, in the OpenAPI document
    settings: ClassVar[tuple[Setting, ...]]
    one_needed: ClassVar[tuple[str, ...]] = ()  # fields of which the configuration has at least one
    required_by_default: ClassVar[bool]
    default_schema: ClassVar[Schema]  # of `default_response`
    answer_noun: ClassVar[str]  # what `response_data` is: "a string"
    example: ClassVar[Example]

    @abstractmethod
    def check_configuration(self, config: Config) -> None:
        """Raise InvalidConfiguration, with the field in its sentence, unless people can answer."""

    @abstractmethod
    def check_default(self, config: Config, default: object) -> None:
        """Raise InvalidDefault unless `default` can stand in for an answer.

        It is a machine's fallback: its type is checked, the reviewers' bounds are not (resolved
        gap 24).
        """

    @abstractmethod
    def check_answer(self, config: Config, answer: object) -> Answer:
        """The answer as `response_data` gives it (resolved gaps 26 and 27).

        Raises InvalidAnswer with a sentence for the reviewer.
        """

    @abstractmethod
    def widget(self, config: Config, typed: list[str]) -> Widget:
        """What the reviewer's form draws, with what was typed so far."""

    def parse_answer(self, config: Config, posted: list[str]) -> Answer:
        """What `check_answer` returns, from all values posted under the answer's field name."""
        if len(posted) > 1:
            raise InvalidAnswer("Give one answer only")
        return self.check_answer(config, self.read(config, posted[0]) if posted else None)

    def read(self, config: Config, posted: str) -> object:
        """The answer that one posted string stands for. Raises InvalidAnswer."""
        return posted

    def read_default(self, typed: str) -> object:
        """The default that somebody typed in the dashboard; what does not fit stays as it is, for
        `check_default` to refuse. Line breaks are LF."""
        return typed.strip()

    def labels(self, config: Config, values: list[Any]) -> list[str]:
        """Each value of an answer as people read it."""
        return [str(value) for value in values]

    def in_words(self, config: Config, answer: object) -> str:
        """An answer as people read it. It may be no valid one: a draft, or a default."""
        values = answer if isinstance(answer, list) else [answer]
        return ", ".join(self.labels(config, values)) or "nothing"
