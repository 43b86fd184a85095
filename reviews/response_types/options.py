"""The options of both select types (docs/contract.md, `config.options`)."""

from dataclasses import dataclass
from typing import Any, Final

from reviews.response_types.base import Schema, Setting
from reviews.response_types.faults import InvalidConfiguration, InvalidDefault
from reviews.response_types.fields import Config
from reviews.response_types.posted import unify_newlines
from reviews.response_types.widgets import Choice
from web.phrases import say

MAX_OPTIONS = 100

_LABEL: Final[Schema] = {"type": "string", "minLength": 1, "pattern": r"\S"}
OPTIONS: Final = Setting(
    "options",
    {
        "type": "array",
        "minItems": 1,
        "maxItems": MAX_OPTIONS,
        "items": {
            "anyOf": [
                _LABEL,
                {
                    "type": "object",
                    "properties": {"value": _LABEL, "label": _LABEL},
                    "required": ["value", "label"],
                    "additionalProperties": True,
                },
            ]
        },
        "description": "Values are unique. A plain string is its own label.",
    },
    label=say("Options"),
    kind="options",
    help_text=say("One option per line. Optional: value | label."),
    is_mandatory=True,
)


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str


def read_options(config: Config) -> list[Option]:
    """Reads the options in their order; a plain string is its own label."""
    entries = config.get("options")
    if not isinstance(entries, list) or not entries:
        raise InvalidConfiguration(say("options array required for select response type"))
    if len(entries) > MAX_OPTIONS:
        raise InvalidConfiguration(
            say(
                "%(field)s must have between 1 and %(most)s entries",
                field="options",
                most=MAX_OPTIONS,
            )
        )
    result: list[Option] = []
    values: set[str] = set()
    for index, entry in enumerate(entries):
        option = _read_option(f"options[{index}]", entry)
        value = unify_newlines(option.value)
        if value in values:
            raise InvalidConfiguration(
                say("%(field)s must be unique", field=f"options[{index}].value")
            )
        values.add(value)
        result.append(option)
    return result


def check_chosen(config: Config, chosen: list[Any]) -> None:
    """Raises InvalidDefault unless these are values of options, without duplicates."""
    values = {option.value for option in read_options(config)}
    if not chosen or not all(isinstance(value, str) and value in values for value in chosen):
        raise InvalidDefault(
            say("%(field)s must match one of the configured options", field="default_response")
        )
    if len(set(chosen)) < len(chosen):
        raise InvalidDefault(
            say("%(field)s must not contain an option twice", field="default_response")
        )


def find_value(config: Config, posted: str) -> str:
    """Returns the posted option's value with its configured line breaks."""
    posted = unify_newlines(posted)
    for option in read_options(config):
        if unify_newlines(option.value) == posted:
            return option.value
    return posted


def find_labels(config: Config, values: list[Any]) -> list[str]:
    """Returns the labels of these values; a value without option is its own label."""
    labels = {option.value: option.label for option in read_options(config)}
    return [labels.get(str(value), str(value)) for value in values]


def build_choices(config: Config, typed: list[str]) -> tuple[Choice, ...]:
    """Builds the choices of a form from the options."""
    return tuple(
        Choice(each.value, each.label, each.value in typed) for each in read_options(config)
    )


def _read_option(name: str, entry: Any) -> Option:
    if isinstance(entry, str):
        return Option(_read_label(name, entry), entry)
    if not isinstance(entry, dict):
        raise InvalidConfiguration(
            say("%(field)s must be a string or an object with value and label", field=name)
        )
    value = _read_label(f"{name}.value", entry.get("value"))
    return Option(value, _read_label(f"{name}.label", entry.get("label")))


def _read_label(name: str, text: Any) -> str:
    if text is not None and not isinstance(text, str):
        raise InvalidConfiguration(say("%(field)s must be a string", field=name))
    # Blank text counts as missing (`config.options`), because such a choice would be invisible.
    if not text or text.isspace():
        raise InvalidConfiguration(say("%(field)s is required", field=name))
    return str(text)
