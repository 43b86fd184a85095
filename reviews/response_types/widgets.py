"""Widgets of the reviewer's form. `kind` names the template in templates/portal/widgets/."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from web.phrases import say

# The maximum of options, and of characters of a label, that leaves space for the question.
MAX_IN_REACH = 4
SHORT_LABEL = 40


@dataclass(frozen=True, slots=True)
class Widget:
    """The form field of an answer. `rule` says in words which answers are valid."""

    kind: str
    rule: str = ""

    @property
    def is_in_reach(self) -> bool:
        """Tells whether the whole widget fits near the thumb, at the bottom of the screen."""
        return False

    @property
    def has_buttons(self) -> bool:
        """Tells whether the widget has buttons of its own that send the answer."""
        return False


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    label: str
    is_checked: bool


@dataclass(frozen=True, slots=True)
class Radio(Widget):
    """Radio buttons: one of the choices."""

    kind: str = "radio"
    choices: tuple[Choice, ...] = ()
    layout: Literal["list", "scale", "stars"] = "list"

    @property
    def is_in_reach(self) -> bool:
        is_short = all(len(choice.label) <= SHORT_LABEL for choice in self.choices)
        return self.layout != "list" or (len(self.choices) <= MAX_IN_REACH and is_short)


@dataclass(frozen=True, slots=True)
class Checkboxes(Widget):
    """Checkboxes: from `least` to `most` of the choices."""

    kind: str = "checkbox"
    choices: tuple[Choice, ...] = ()
    least: int = 0
    most: int = 0


@dataclass(frozen=True, slots=True)
class NumberField(Widget):
    """A field for a typed number; with a `step` also a slider from `least` to `most`."""

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
    """A field for text of `least` to `most` characters."""

    kind: str = "textarea"
    typed: str = ""
    placeholder: str = ""
    least: int = 0
    most: int = 0


@dataclass(frozen=True, slots=True)
class FormField:
    """One of several fields: its label, rule and error, and the values typed so far.

    `kind` names the template of its control in templates/portal/widgets/controls/.
    """

    name: str  # under which it is posted
    html_id: str
    kind: str
    title: str
    description: str = ""
    rule: str = ""
    error: str = ""
    is_required: bool = False
    is_first_error: bool = False
    is_kept: bool = False  # it shows a proposed value, as it was proposed
    typed: str = ""
    input_type: str = "text"
    keyboard: str = ""
    is_signed: bool = False
    most: int = 0  # characters
    choices: tuple[Choice, ...] = ()

    @property
    def is_group(self) -> bool:
        """Tells whether it has several controls under one legend."""
        return self.kind in ("radio", "checkboxes")

    @property
    def described_by(self) -> str:
        """The ids of its description, rule and error, for assistive technology."""
        parts = (("about", self.description), ("rule", self.rule), ("error", self.error))
        return " ".join(f"{self.html_id}-{name}" for name, text in parts if text)


@dataclass(frozen=True, slots=True)
class Fields(Widget):
    """Several fields below a title. `has_defaults`: they show defaults, nothing was typed yet."""

    kind: str = "fields"
    title: str = ""
    description: str = ""
    fields: tuple[FormField, ...] = ()
    has_defaults: bool = False


def build_number_field(rule: str, minimum: Decimal, typed: list[str]) -> NumberField:
    """Builds a field for numbers from `minimum` on, without a slider."""
    # type="number" would lose mistyped input; some decimal keyboards lack the minus sign.
    return NumberField(
        rule=say("%(rule)s.", rule=rule),
        typed=get_first(typed),
        keyboard="text" if minimum < 0 else "decimal",
        is_signed=minimum < 0,
    )


def get_first(typed: Iterable[str]) -> str:
    """Returns the value typed into a single field, '' for none."""
    return next(iter(typed), "")
