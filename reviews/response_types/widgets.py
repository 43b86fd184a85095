"""The answer form: what a configuration looks like to the person who answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from reviews import response_types
from reviews.response_types import Answer
from reviews.response_types.fields import Config

if TYPE_CHECKING:
    from reviews.models import Request

# A scale of more steps is typed or slid, not tapped.
MOST_BUTTONS = 11
MOST_STARS = 5
# So few options with so short labels leave room for the question above them.
MOST_IN_REACH = 4
SHORT_LABEL = 40


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    label: str
    checked: bool


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """Everything that the template draws. `rule` says in words what is asked for."""

    input_type: str
    rule: str = ""
    error: str = ""
    typed: str = ""
    choices: tuple[Choice, ...] = ()
    layout: str = "list"  # or scale, stars
    placeholder: str = ""
    keyboard: str = "decimal"
    is_signed: bool = False
    least: Decimal | float | None = None  # of a slider, of options, of characters
    most: Decimal | float | None = None
    step: Decimal | None = None

    @property
    def is_in_reach(self) -> bool:
        """Whether the whole of it fits into the thumb's zone."""
        if self.input_type == "radio":
            is_short = all(len(choice.label) <= SHORT_LABEL for choice in self.choices)
            return self.layout != "list" or (len(self.choices) <= MOST_IN_REACH and is_short)
        return self.input_type == "number"

    @property
    def described_by(self) -> str:
        """The ids of what belongs to the field, for assistive technology."""
        ids = (("answer-rule", self.rule), ("answer-error", self.error))
        return " ".join(name for name, text in ids if text)


def build(request: "Request", typed: Sequence[str] = (), error: str = "") -> AnswerForm:
    """The form of the request, with what was typed and what was wrong with it."""
    form = _BUILDERS[request.response_type](request.response_config, list(typed))
    return replace(form, error=error)


def in_words(request: "Request", answer: Answer) -> str:
    """An answer to the request as its reviewers see it: labels instead of values."""
    values = answer if isinstance(answer, list) else [answer]
    if request.response_type in ("single_select", "multi_select"):
        labels = {
            each.value: each.label for each in response_types.options(request.response_config)
        }
        values = [labels.get(str(value), value) for value in values]
    return ", ".join(str(value) for value in values) or "nothing"


def draft_in_words(request: "Request", typed: Sequence[str]) -> str:
    """The same for what a form posted, which may be no answer at all; '' for nothing."""
    return in_words(request, list(typed)) if any(typed) else ""


def _choices(config: Config, typed: list[str]) -> tuple[Choice, ...]:
    return tuple(
        Choice(each.value, each.label, each.value in typed)
        for each in response_types.options(config)
    )


def _single(config: Config, typed: list[str]) -> AnswerForm:
    return AnswerForm("radio", choices=_choices(config, typed))


def _multi(config: Config, typed: list[str]) -> AnswerForm:
    bounds = response_types.multi_bounds(config)
    choices = _choices(config, typed)
    if bounds.minimum == bounds.maximum:
        rule = f"Choose {'all' if bounds.minimum == len(choices) > 1 else bounds.minimum}"
    elif bounds.maximum == len(choices):
        rule = f"Choose at least {bounds.minimum}"
    else:
        rule = f"Choose {bounds.minimum} to {bounds.maximum}"
    return AnswerForm(
        "checkbox",
        _sentence(rule, bounds.required, "none"),
        choices=choices,
        least=bounds.minimum,
        most=bounds.maximum,
    )


def _rating(config: Config, typed: list[str]) -> AnswerForm:
    bounds = response_types.rating_bounds(config)
    steps = response_types.rating_steps(config)
    rule = f"From {bounds.minimum} to {bounds.maximum}"
    if len(steps) > MOST_BUTTONS:
        field = _number_field(f"{rule} in steps of {bounds.step}", bounds.minimum, typed)
        return replace(field, least=bounds.minimum, most=steps[-1], step=bounds.step)
    choices = tuple(Choice(str(step), str(step), str(step) in typed) for step in steps)
    stars = steps == list(range(1, len(steps) + 1)) and len(steps) <= MOST_STARS
    layout = "stars" if stars else "scale"
    return AnswerForm("radio", f"{rule}.", choices=choices, layout=layout)


def _number(config: Config, typed: list[str]) -> AnswerForm:
    bounds = response_types.number_bounds(config)
    places = bounds.decimal_places
    kind = "A number" if places else "A whole number"
    rule = f"{kind} from {bounds.minimum} to {bounds.maximum}"
    if places:
        rule += f", with at most {places} decimal place{'s' if places > 1 else ''}"
    field = _number_field(rule, bounds.minimum, typed)
    return field if places or field.is_signed else replace(field, keyboard="numeric")


def _number_field(rule: str, minimum: Decimal, typed: list[str]) -> AnswerForm:
    # type="number" would lose what was mistyped; some decimal keyboards lack the minus sign
    return AnswerForm(
        "number",
        f"{rule}.",
        typed="".join(typed[:1]),
        keyboard="text" if minimum < 0 else "decimal",
        is_signed=minimum < 0,
    )


def _text(config: Config, typed: list[str]) -> AnswerForm:
    bounds = response_types.text_bounds(config)
    rule = f"{bounds.minimum} to" if bounds.minimum > 1 else "Up to"
    if bounds.minimum == bounds.maximum:
        rule = "Exactly"
    return AnswerForm(
        "textarea",
        _sentence(f"{rule} {bounds.maximum:,} characters", bounds.required, "nothing"),
        typed="".join(typed[:1]),
        placeholder=bounds.placeholder,
        least=bounds.minimum,
        most=bounds.maximum,
    )


def _sentence(rule: str, required: bool, nothing: str) -> str:
    return f"{rule}." if required else f"{rule}, or {nothing}."


_BUILDERS: dict[str, Callable[[Config, list[str]], AnswerForm]] = {
    "text": _text,
    "single_select": _single,
    "multi_select": _multi,
    "rating": _rating,
    "number": _number,
}
