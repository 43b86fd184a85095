"""The options of both select types (resolved gaps 6 and 24)."""

from dataclasses import dataclass
from typing import Any, Final

from reviews.response_types.base import Schema, Setting
from reviews.response_types.faults import InvalidConfiguration, InvalidDefault
from reviews.response_types.fields import Config
from reviews.response_types.posted import unify_newlines
from reviews.response_types.widgets import Choice

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
    label="Options",
    kind="options",
    help_text="One option per line. Optional: value | label.",
    is_mandatory=True,
)


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str


def options(config: Config) -> list[Option]:
    """The options in their order, a plain string as its own label."""
    listed = config.get("options")
    if not isinstance(listed, list) or not listed:
        raise InvalidConfiguration("options array required for select response type")
    if len(listed) > MAX_OPTIONS:
        raise InvalidConfiguration(f"options must have between 1 and {MAX_OPTIONS} entries")
    found: list[Option] = []
    seen: set[str] = set()
    for index, entry in enumerate(listed):
        option = _option(f"options[{index}]", entry)
        posted = unify_newlines(option.value)
        if posted in seen:
            raise InvalidConfiguration(f"options[{index}].value must be unique")
        seen.add(posted)
        found.append(option)
    return found


def check_chosen(config: Config, chosen: list[Any]) -> None:
    """Raise InvalidDefault unless these are values of options, none of them twice."""
    values = {option.value for option in options(config)}
    if not chosen or not all(isinstance(value, str) and value in values for value in chosen):
        raise InvalidDefault("default_response must match one of the configured options")
    if len(set(chosen)) < len(chosen):
        raise InvalidDefault("default_response must not contain an option twice")


def find_value(config: Config, posted: str) -> str:
    """The option's value with the line breaks that it was configured with."""
    posted = unify_newlines(posted)
    for option in options(config):
        if unify_newlines(option.value) == posted:
            return option.value
    return posted


def labels_of(config: Config, values: list[Any]) -> list[str]:
    """The labels of these values; what is no option's value stays as it is."""
    labels = {option.value: option.label for option in options(config)}
    return [labels.get(str(value), str(value)) for value in values]


def choices(config: Config, typed: list[str]) -> tuple[Choice, ...]:
    """The options as a form draws them."""
    return tuple(Choice(each.value, each.label, each.value in typed) for each in options(config))


def _option(name: str, entry: Any) -> Option:
    if isinstance(entry, str):
        return Option(_label(name, entry), entry)
    if not isinstance(entry, dict):
        raise InvalidConfiguration(f"{name} must be a string or an object with value and label")
    value = _label(f"{name}.value", entry.get("value"))
    return Option(value, _label(f"{name}.label", entry.get("label")))


def _label(name: str, text: Any) -> str:
    if text is not None and not isinstance(text, str):
        raise InvalidConfiguration(f"{name} must be a string")
    # Blanks alone count as missing (resolved gap 6): nobody could see such a choice.
    if not text or text.isspace():
        raise InvalidConfiguration(f"{name} is required")
    return str(text)
