"""The fields of the new request form that depend on the response type.

Turns the settings of every type (`ResponseType.settings`) into form fields, and their values into
a `response_config`.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django import forms

from reviews.response_types import TYPES, ResponseType
from reviews.response_types.base import Setting
from reviews.response_types.faults import InvalidAnswer
from reviews.response_types.posted import read_lines, read_number, unify_newlines
from web.languages import decimal_mark, translate_lazy
from web.strict_json import InvalidJSON, parse_object
from web.typed_numbers import write_number

# The types that are quickest to answer come first, the others follow in the order of `TYPES`.
FIRST = ("single_select", "multi_select", "rating", "number")


@dataclass(frozen=True, slots=True)
class Row:
    """Names of fields shown side by side, and numbers (from 1) of the types that use them."""

    fields: tuple[str, ...]
    types: tuple[int, ...]


def list_types() -> list[ResponseType]:
    """Returns the types in the order of the form."""
    others = [name for name in TYPES if name not in FIRST]
    return [TYPES[name] for name in (*FIRST, *others)]


def build_setting_fields() -> dict[str, forms.Field]:
    """Builds a field for every setting; types share the field of a setting with the same name."""
    settings = {each.name: each for kind in list_types() for each in kind.settings}
    return {name: _FIELDS[setting.kind](setting) for name, setting in settings.items()}


def build_rows() -> list[Row]:
    """Returns the rows of fields on the page. The number fields of a type share a row."""
    kinds = list_types()
    types_by_name: dict[str, tuple[int, ...]] = {}
    rows: list[Row] = []
    for kind in kinds:
        fresh = [each for each in kind.settings if each.name not in types_by_name]
        types_by_name |= {each.name: _find_types(each, kinds) for each in fresh}
        for _, row in groupby(fresh, key=lambda each: (_row_key(each), types_by_name[each.name])):
            names = tuple(each.name for each in row)
            rows.append(Row(names, types_by_name[names[0]]))
    return rows


def build_config(kind: ResponseType, typed: dict[str, Any]) -> dict[str, Any]:
    """Builds the `response_config` from the form. Empty fields are left out."""
    read = {each.name: _read_setting(each, typed[each.name]) for each in kind.settings}
    config = {name: value for name, value in read.items() if value is not None}
    return config | {"required": bool(typed["required"])}


def read_config(kind: ResponseType, config: dict[str, Any]) -> dict[str, Any]:
    """Returns the form's values for a `response_config`; the inverse of `build_config`."""
    return {each.name: _WRITERS[each.kind](config.get(each.name)) for each in kind.settings}


def build_number_field(label: str, **options: Any) -> forms.CharField:
    """Builds a text field for a number; the caller parses and checks the number."""
    attrs = {"inputmode": "decimal", "class": "number", "autocomplete": "off"}
    widget = forms.TextInput(attrs)
    return forms.CharField(label=label, required=False, max_length=30, widget=widget, **options)


def _find_types(setting: Setting, kinds: Iterable[ResponseType]) -> tuple[int, ...]:
    return tuple(place for place, kind in enumerate(kinds, start=1) if setting in kind.settings)


def _row_key(setting: Setting) -> str:
    return "number" if setting.kind == "number" else setting.name


def _number_field(setting: Setting) -> forms.Field:
    return build_number_field(
        translate_lazy(setting.label),
        initial=setting.initial,
        help_text=translate_lazy(setting.help_text),
    )


def _text_field(setting: Setting) -> forms.Field:
    return forms.CharField(
        label=translate_lazy(setting.label),
        required=False,
        max_length=200,
        initial=setting.initial,
        help_text=translate_lazy(setting.help_text),
    )


def _flag_field(setting: Setting) -> forms.Field:
    return forms.BooleanField(
        label=translate_lazy(setting.label),
        required=False,
        help_text=translate_lazy(setting.help_text),
    )


def _options_field(setting: Setting) -> forms.Field:
    return forms.CharField(
        label=translate_lazy(setting.label),
        required=False,
        widget=forms.Textarea({"rows": 4}),
        help_text=translate_lazy(setting.help_text),
    )


def _object_field(setting: Setting) -> forms.Field:
    return forms.CharField(
        label=translate_lazy(setting.label),
        required=False,
        widget=forms.Textarea({"rows": 8, "spellcheck": "false"}),
        help_text=translate_lazy(setting.help_text),
    )


def read_setting_number(setting: Setting, typed: str) -> int | float | None:
    """Reads a typed number in the page's language, None if it is empty. Raises InvalidAnswer."""
    is_whole = setting.schema.get("type") == "integer"
    return read_number(typed, point=decimal_mark(), is_whole=is_whole)


def _read_setting(setting: Setting, typed: Any) -> Any:
    """Returns the value, None for an empty field, or the text itself if it is no number."""
    if setting.kind != "number":
        return _READERS[setting.kind](typed)
    try:
        return read_setting_number(setting, typed)
    except InvalidAnswer:
        return typed.strip()


def _read_object(typed: str) -> Any:
    """Returns the object, None for an empty field, or the text itself if it is no object."""
    if not typed.strip():
        return None
    try:
        return parse_object(typed.encode(errors="replace"))
    except InvalidJSON:
        return typed.strip()


def _read_options(typed: str) -> list[str | dict[str, str]]:
    return [_read_option(line) for line in read_lines(unify_newlines(typed))]


def _read_option(line: str) -> str | dict[str, str]:
    value, bar, label = (part.strip() for part in line.partition("|"))
    return {"value": value, "label": label} if bar else value


def write_object(value: dict[str, Any] | None) -> str:
    """Writes an object as JSON on several lines, '' for none."""
    return json.dumps(value, indent=2, ensure_ascii=False) if value else ""


def _write_number(value: Any) -> str:
    return "" if value is None else write_number(value, point=decimal_mark())


def _write_options(value: Any) -> str:
    lines = value if isinstance(value, list) else []
    return "\n".join(map(_write_option, lines))


def _write_option(entry: Any) -> str:
    if isinstance(entry, dict):
        value, label = entry.get("value", ""), entry.get("label", "")
        return f"{value} | {label}"
    return str(entry)


_FIELDS: dict[str, Callable[[Setting], forms.Field]] = {
    "number": _number_field,
    "text": _text_field,
    "flag": _flag_field,
    "options": _options_field,
    "object": _object_field,
}
# None leaves the setting out.
_READERS: dict[str, Callable[[Any], Any]] = {
    "text": lambda typed: typed or None,
    "flag": lambda typed: True if typed else None,
    "options": lambda typed: _read_options(typed) or None,
    "object": _read_object,
}
_WRITERS: dict[str, Callable[[Any], Any]] = {
    "number": _write_number,
    "text": lambda value: value or "",
    "flag": bool,
    "options": _write_options,
    "object": write_object,
}
