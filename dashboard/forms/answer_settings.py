"""The part of the form for a request that depends on the response type.

Every type says what can be set (`ResponseType.settings`); here that becomes form fields, and what
was typed into them becomes a `response_config`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django import forms

from reviews.response_types import TYPES, ResponseType
from reviews.response_types.base import Setting
from reviews.response_types.posted import read_json_number, read_lines, unify_newlines

# The quickest to answer come first, then the others in the order of the specification.
FIRST = ("single_select", "multi_select", "rating", "number")


@dataclass(frozen=True, slots=True)
class Row:
    """Fields that stand beside each other, by name, for the nth of the types that are offered."""

    fields: tuple[str, ...]
    types: tuple[int, ...]


def offered_types() -> list[ResponseType]:
    """The types in the order in which the form offers them."""
    others = [name for name in TYPES if name not in FIRST]
    return [TYPES[name] for name in (*FIRST, *others)]


def setting_fields() -> dict[str, forms.Field]:
    """A field for every setting of every type; types share a setting of the same name."""
    settings = {each.name: each for kind in offered_types() for each in kind.settings}
    return {name: _FIELDS[setting.kind](setting) for name, setting in settings.items()}


def rows() -> list[Row]:
    """The fields as they stand on the page: numbers of a type beside each other."""
    kinds = offered_types()
    found: dict[str, tuple[int, ...]] = {}
    laid_out: list[Row] = []
    for kind in kinds:
        fresh = [each for each in kind.settings if each.name not in found]
        found |= {each.name: _having(each, kinds) for each in fresh}
        for _, beside in groupby(fresh, key=lambda each: (_row_key(each), found[each.name])):
            names = tuple(each.name for each in beside)
            laid_out.append(Row(names, found[names[0]]))
    return laid_out


def configuration(kind: ResponseType, typed: dict[str, Any]) -> dict[str, Any]:
    """The `response_config` that was typed; what was left empty is left out."""
    read = {each.name: _READERS[each.kind](typed[each.name]) for each in kind.settings}
    config = {name: value for name, value in read.items() if value is not None}
    return config | {"required": bool(typed["required"])}


def number_input(label: str, **options: Any) -> forms.CharField:
    """A field for a number that is read by whoever judges it."""
    attrs = {"inputmode": "decimal", "class": "number", "autocomplete": "off"}
    widget = forms.TextInput(attrs)
    return forms.CharField(label=label, required=False, max_length=30, widget=widget, **options)


def _having(setting: Setting, kinds: Iterable[ResponseType]) -> tuple[int, ...]:
    return tuple(place for place, kind in enumerate(kinds, start=1) if setting in kind.settings)


def _row_key(setting: Setting) -> str:
    return "number" if setting.kind == "number" else setting.name


def _number_field(setting: Setting) -> forms.Field:
    return number_input(setting.label, initial=setting.initial, help_text=setting.help_text)


def _text_field(setting: Setting) -> forms.Field:
    return forms.CharField(
        label=setting.label,
        required=False,
        max_length=200,
        initial=setting.initial,
        help_text=setting.help_text,
    )


def _flag_field(setting: Setting) -> forms.Field:
    return forms.BooleanField(label=setting.label, required=False, help_text=setting.help_text)


def _options_field(setting: Setting) -> forms.Field:
    return forms.CharField(
        label=setting.label,
        required=False,
        widget=forms.Textarea({"rows": 4}),
        help_text=setting.help_text,
    )


def _read_number(typed: str) -> Any:
    return read_json_number(typed) if typed.strip() else None


def _read_options(typed: str) -> list[str | dict[str, str]]:
    return [_option(line) for line in read_lines(unify_newlines(typed))]


def _option(line: str) -> str | dict[str, str]:
    value, bar, label = (part.strip() for part in line.partition("|"))
    return {"value": value, "label": label} if bar else value


_FIELDS: dict[str, Callable[[Setting], forms.Field]] = {
    "number": _number_field,
    "text": _text_field,
    "flag": _flag_field,
    "options": _options_field,
}
# None leaves the setting out.
_READERS: dict[str, Callable[[Any], Any]] = {
    "number": _read_number,
    "text": lambda typed: typed or None,
    "flag": lambda typed: True if typed else None,
    "options": _read_options,
}
