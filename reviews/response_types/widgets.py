"""What the reviewer's form draws. `kind` names the template below templates/portal/widgets/."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

# So few options with so short labels leave room for the question above them.
MAX_IN_REACH = 4
SHORT_LABEL = 40


@dataclass(frozen=True, slots=True)
class Widget:
    """The field for an answer. `rule` says in words what is asked for."""

    kind: str
    rule: str = ""

    @property
    def is_in_reach(self) -> bool:
        """Whether the whole of it fits into the thumb's zone."""
        return False


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    label: str
    is_checked: bool


@dataclass(frozen=True, slots=True)
class Radio(Widget):
    """One of the choices."""

    kind: str = "radio"
    choices: tuple[Choice, ...] = ()
    layout: Literal["list", "scale", "stars"] = "list"

    @property
    def is_in_reach(self) -> bool:
        is_short = all(len(choice.label) <= SHORT_LABEL for choice in self.choices)
        return self.layout != "list" or (len(self.choices) <= MAX_IN_REACH and is_short)


@dataclass(frozen=True, slots=True)
class Checkboxes(Widget):
    """At least `least` and at most `most` of the choices."""

    kind: str = "checkbox"
    choices: tuple[Choice, ...] = ()
    least: int = 0
    most: int = 0


@dataclass(frozen=True, slots=True)
class NumberField(Widget):
    """A number that is typed; with a `step` there is a slider from `least` to `most` as well."""

    kind: str = "number"
    typed: str = ""
    keyboard: Literal["decimal", "numeric", "text"] = "decimal"
    is_signed: bool = False
    least: Decimal | float | None = None
    most: Decimal | float | None = None
    step: Decimal | None = None

    @property
    def is_in_reach(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class TextArea(Widget):
    """Text of `least` to `most` characters."""

    kind: str = "textarea"
    typed: str = ""
    placeholder: str = ""
    least: int = 0
    most: int = 0


def number_field(rule: str, minimum: Decimal, typed: list[str]) -> NumberField:
    """A field for numbers from `minimum` on, without a slider."""
    # type="number" would lose what was mistyped; some decimal keyboards lack the minus sign
    return NumberField(
        rule=f"{rule}.",
        typed=first(typed),
        keyboard="text" if minimum < 0 else "decimal",
        is_signed=minimum < 0,
    )


def first(typed: Iterable[str]) -> str:
    """What was typed into a field that takes one value; '' for nothing."""
    return next(iter(typed), "")
