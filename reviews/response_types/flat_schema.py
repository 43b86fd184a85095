"""Reads the flat JSON Schema of a form: an object whose fields are single values or choices.

It is the subset of JSON Schema that elicitation in MCP 2026-07-28 allows. Everything else is
refused with the path of what is not supported.
Values are checked in `flat_values`.
"""

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

from reviews.response_types.base import Schema
from reviews.response_types.decimals import to_json_number
from reviews.response_types.faults import InvalidConfiguration
from reviews.response_types.options import MAX_OPTIONS, Option
from reviews.response_types.posted import unify_newlines
from reviews.response_types.wording import count_characters
from web.phrases import say

Kind = Literal["string", "number", "integer", "boolean", "choice", "choices"]

MAX_FIELDS = 30
MAX_TITLE = 200  # characters
MAX_DESCRIPTION = 1_000
MAX_TEXT = 10_000
MAX_QUOTED = 64  # characters of a name in an error
MAX_NUMBER = 2**53 - 1  # beyond it, JavaScript reads another number than was sent
FORMATS = ("email", "uri", "date", "date-time")
TYPES = ("string", "number", "integer", "boolean", "array")

_NAME: Final = re.compile(r"[\w-]{1,64}")
# As a name they would change an object of JavaScript instead of naming a value.
_RESERVED = ("__proto__", "constructor", "prototype")
_TOP = ("$schema", "type", "title", "description", "properties", "required", "additionalProperties")
_ALL = ("type", "title", "description", "default")
_CHOICES = ("enum", "enumNames", "oneOf", "anyOf")
_KEYWORDS = {
    "string": (*_ALL, "format", "minLength", "maxLength", *_CHOICES),
    "number": (*_ALL, "minimum", "maximum"),
    "integer": (*_ALL, "minimum", "maximum"),
    "boolean": _ALL,
    "array": (*_ALL, "items", "minItems", "maxItems", "uniqueItems"),
}


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a form. `least` and `most` bound a number, or count characters or options."""

    name: str
    kind: Kind
    title: str
    description: str = ""
    is_required: bool = False
    default: Any = None
    format: str = ""
    least: int | float | None = None
    most: int | float | None = None
    options: tuple[Option, ...] = ()


def read_fields(schema: object, *, path: str) -> tuple[Field, ...]:
    """Reads the fields of a schema in their order. `path` names the schema in errors.

    Raises InvalidConfiguration.
    """
    schema = _read_object(schema, path)
    _check_keywords(schema, _TOP, path)
    if schema.get("type") != "object":
        raise InvalidConfiguration(say("%(field)s must be object", field=f"{path}.type"))
    if schema.get("additionalProperties") not in (None, False):
        raise InvalidConfiguration(
            say("%(field)s must be false", field=f"{path}.additionalProperties")
        )
    for name, most in (("title", MAX_TITLE), ("description", MAX_DESCRIPTION)):
        _read_text(schema, name, path, most=most)
    properties = _read_object(schema.get("properties"), f"{path}.properties")
    if not 1 <= len(properties) <= MAX_FIELDS:
        raise InvalidConfiguration(
            say(
                "%(field)s must have between 1 and %(most)s fields",
                field=f"{path}.properties",
                most=MAX_FIELDS,
            )
        )
    for name in properties:
        check_name(name, f"{path}.properties")
    required = _read_required(schema.get("required"), properties, f"{path}.required")
    return tuple(
        read_field(name, own, path=f"{path}.properties.{name}", is_required=name in required)
        for name, own in properties.items()
    )


def read_field(name: str, schema: object, *, path: str, is_required: bool = False) -> Field:
    """Reads the schema of one field. `path` names it in errors. Raises InvalidConfiguration."""
    schema = _read_object(schema, path)
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        raise InvalidConfiguration(
            say("%(field)s must be one of: %(names)s", field=f"{path}.type", names=", ".join(TYPES))
        )
    _check_keywords(schema, _KEYWORDS[kind], path)
    own = _READERS[kind](schema, path)
    title = _read_text(schema, "title", path, most=MAX_TITLE)
    return Field(
        name=name,
        title=title if title.strip() else name,
        description=_read_text(schema, "description", path, most=MAX_DESCRIPTION),
        is_required=is_required,
        default=schema.get("default"),
        **own,
    )


def check_name(name: str, path: str) -> None:
    """Raises InvalidConfiguration unless a field may have the name. `path` is of its object."""
    if not _NAME.fullmatch(name):
        raise InvalidConfiguration(
            say(
                "%(field)s must have names of 1 to 64 letters, digits, _ and -, not %(name)s",
                field=path,
                name=_quote(name),
            )
        )
    if name in _RESERVED:
        raise InvalidConfiguration(
            say("%(field)s must not have the name %(name)s", field=path, name=name)
        )


def _read_string(schema: Schema, path: str) -> dict[str, Any]:
    options = _read_options(schema, path)
    if options:
        for name in ("format", "minLength", "maxLength"):
            if schema.get(name) is not None:
                raise InvalidConfiguration(
                    say("%(field)s must not be combined with options", field=f"{path}.{name}")
                )
        return {"kind": "choice", "options": options}
    form = schema.get("format")
    if form is not None and (not isinstance(form, str) or form not in FORMATS):
        names = ", ".join(FORMATS)
        raise InvalidConfiguration(
            say("%(field)s must be one of: %(names)s", field=f"{path}.format", names=names)
        )
    least = _read_count(schema, "minLength", path, low=0, high=MAX_TEXT)
    most = _read_count(schema, "maxLength", path, low=1, high=MAX_TEXT)
    _check_order(least, most, path, "minLength", "maxLength")
    return {"kind": "string", "format": form or "", "least": least, "most": most}


def _read_number(schema: Schema, path: str) -> dict[str, Any]:
    least, most = (_read_bound(schema, name, path) for name in ("minimum", "maximum"))
    _check_order(least, most, path, "minimum", "maximum")
    is_whole = schema["type"] == "integer"
    if is_whole and least is not None and most is not None and math.ceil(least) > math.floor(most):
        raise InvalidConfiguration(
            say("%(field)s must leave an integer between minimum and maximum", field=path)
        )
    return {"kind": schema["type"], "least": least, "most": most}


def _read_boolean(schema: Schema, path: str) -> dict[str, Any]:
    return {"kind": "boolean"}


def _read_array(schema: Schema, path: str) -> dict[str, Any]:
    items = _read_object(schema.get("items"), f"{path}.items")
    _check_keywords(items, ("type", *_CHOICES), f"{path}.items")
    if items.get("type") not in (None, "string"):
        raise InvalidConfiguration(say("%(field)s must be string", field=f"{path}.items.type"))
    options = _read_options(items, f"{path}.items")
    if not options:
        raise InvalidConfiguration(say("%(field)s is required", field=f"{path}.items.enum"))
    if not isinstance(schema.get("uniqueItems", True), bool):
        raise InvalidConfiguration(say("%(field)s must be a boolean", field=f"{path}.uniqueItems"))
    least = _read_count(schema, "minItems", path, low=0, high=len(options))
    most = _read_count(schema, "maxItems", path, low=1, high=len(options))
    _check_order(least, most, path, "minItems", "maxItems")
    return {"kind": "choices", "options": options, "least": least, "most": most}


_READERS = {
    "string": _read_string,
    "number": _read_number,
    "integer": _read_number,
    "boolean": _read_boolean,
    "array": _read_array,
}


def _read_options(schema: Schema, path: str) -> tuple[Option, ...]:
    """Reads `enum` with or without `enumNames`, or `oneOf` or `anyOf` of const and title."""
    given = [name for name in ("enum", "oneOf", "anyOf") if schema.get(name) is not None]
    if len(given) > 1:
        raise InvalidConfiguration(
            say(
                "%(field)s must not be combined with %(other)s",
                field=f"{path}.{given[1]}",
                other=given[0],
            )
        )
    names = schema.get("enumNames")
    if names is not None and given != ["enum"]:
        raise InvalidConfiguration(say("%(field)s needs enum", field=f"{path}.enumNames"))
    if not given:
        return ()
    place = f"{path}.{given[0]}"
    entries = schema[given[0]]
    if not isinstance(entries, list) or not 1 <= len(entries) <= MAX_OPTIONS:
        raise InvalidConfiguration(
            say("%(field)s must have between 1 and %(most)s entries", field=place, most=MAX_OPTIONS)
        )
    if given == ["enum"]:
        labels = _read_enum_names(names, len(entries), f"{path}.enumNames")
        options = [
            Option(_read_label(value, f"{place}[{index}]"), labels[index] if labels else value)
            for index, value in enumerate(entries)
        ]
    else:
        options = [_read_titled(each, f"{place}[{index}]") for index, each in enumerate(entries)]
    _check_unique((unify_newlines(each.value) for each in options), place)
    return tuple(options)


def _read_enum_names(names: object, count: int, path: str) -> list[str]:
    if names is None:
        return []
    if not isinstance(names, list) or len(names) != count:
        raise InvalidConfiguration(say("%(field)s must have as many entries as enum", field=path))
    return [_read_label(each, f"{path}[{index}]") for index, each in enumerate(names)]


def _read_titled(entry: object, path: str) -> Option:
    entry = _read_object(entry, path)
    _check_keywords(entry, ("const", "title"), path)
    value = _read_label(entry.get("const"), f"{path}.const")
    title = entry.get("title")
    return Option(value, value if title is None else _read_label(title, f"{path}.title"))


def _read_label(text: object, path: str) -> str:
    if text is not None and not isinstance(text, str):
        raise InvalidConfiguration(say("%(field)s must be a string", field=path))
    if not text or text.isspace():  # such a choice would be invisible
        raise InvalidConfiguration(say("%(field)s is required", field=path))
    return text


def _read_required(required: object, properties: Schema, path: str) -> list[str]:
    if required is None:
        return []
    if not isinstance(required, list):
        raise InvalidConfiguration(say("%(field)s must be an array", field=path))
    for index, name in enumerate(required):
        if not isinstance(name, str) or name not in properties:
            raise InvalidConfiguration(
                say("%(field)s must name a field of properties", field=f"{path}[{index}]")
            )
    _check_unique(required, path)
    return required


def _check_unique(values: Iterable[str], path: str) -> None:
    seen: set[str] = set()
    for index, value in enumerate(values):
        if value in seen:
            raise InvalidConfiguration(say("%(field)s must be unique", field=f"{path}[{index}]"))
        seen.add(value)


def _read_object(value: object, path: str) -> Schema:
    if value is None:
        raise InvalidConfiguration(say("%(field)s is required", field=path))
    if not isinstance(value, dict):
        raise InvalidConfiguration(say("%(field)s must be an object", field=path))
    return value


def _check_keywords(schema: Schema, known: tuple[str, ...], path: str) -> None:
    for name in schema:
        if name not in known:
            raise InvalidConfiguration(
                say(
                    "%(field)s is not supported. %(place)s may have: %(names)s",
                    field=f"{path}.{_shorten(name)}",
                    place=path,
                    names=", ".join(known),
                )
            )


def _read_text(schema: Schema, name: str, path: str, *, most: int) -> str:
    text = schema.get(name)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise InvalidConfiguration(say("%(field)s must be a string", field=f"{path}.{name}"))
    if len(text) > most:
        raise InvalidConfiguration(
            say(
                "%(field)s must have at most %(characters)s",
                field=f"{path}.{name}",
                characters=count_characters(most),
            )
        )
    return text


def _read_count(schema: Schema, name: str, path: str, *, low: int, high: int) -> int | None:
    value = schema.get(name)
    if value is None:
        return None
    number = to_json_number(value)
    if not isinstance(number, int) or not low <= number <= high:
        raise InvalidConfiguration(
            say(
                "%(field)s must be an integer between %(least)s and %(most)s",
                field=f"{path}.{name}",
                least=low,
                most=high,
            )
        )
    return number


def _read_bound(schema: Schema, name: str, path: str) -> int | float | None:
    value = schema.get(name)
    if value is None:
        return None
    number = to_json_number(value)
    if number is None or abs(number) > MAX_NUMBER:
        raise InvalidConfiguration(
            say(
                "%(field)s must be a number between %(least)s and %(most)s",
                field=f"{path}.{name}",
                least=-MAX_NUMBER,
                most=MAX_NUMBER,
            )
        )
    return number


def _check_order(least: float | None, most: float | None, path: str, low: str, high: str) -> None:
    if least is not None and most is not None and least > most:
        raise InvalidConfiguration(
            say("%(field)s must not be greater than %(other)s", field=f"{path}.{low}", other=high)
        )


def _quote(name: str) -> str:
    return json.dumps(_shorten(name), ensure_ascii=False)


def _shorten(name: str) -> str:
    return name if len(name) <= MAX_QUOTED else f"{name[:MAX_QUOTED]}…"
