"""Reads the flat JSON Schema of a form: an object whose fields are single values or choices.

It is the subset of JSON Schema that elicitation in MCP 2026-07-28 allows. Everything else is
refused with the path of what is not supported.
Values are checked in `flat_values`.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

from reviews.response_types.base import Schema
from reviews.response_types.faults import InvalidConfiguration
from reviews.response_types.flat_options import CHOICES, read_options
from reviews.response_types.keywords import (
    check_keywords,
    check_order,
    check_unique,
    quote,
    read_bound,
    read_count,
    read_object,
    read_text,
)
from reviews.response_types.options import Option
from web.phrases import say

Kind = Literal["string", "number", "integer", "boolean", "choice", "choices"]

MAX_FIELDS = 30
MAX_TITLE = 200  # characters
MAX_DESCRIPTION = 1_000
MAX_TEXT = 10_000
FORMATS = ("email", "uri", "date", "date-time")
TYPES = ("string", "number", "integer", "boolean", "array")

_NAME: Final = re.compile(r"[\w-]{1,64}")
# As a name they would change an object of JavaScript instead of naming a value.
_RESERVED = ("__proto__", "constructor", "prototype")
_TOP = ("$schema", "type", "title", "description", "properties", "required", "additionalProperties")
_ALL = ("type", "title", "description", "default")
_KEYWORDS = {
    "string": (*_ALL, "format", "minLength", "maxLength", *CHOICES),
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
    schema = read_object(schema, path)
    check_keywords(schema, _TOP, path)
    if schema.get("type") != "object":
        raise InvalidConfiguration(say("%(field)s must be object", field=f"{path}.type"))
    if schema.get("additionalProperties") not in (None, False):
        raise InvalidConfiguration(
            say("%(field)s must be false", field=f"{path}.additionalProperties")
        )
    for name, most in (("title", MAX_TITLE), ("description", MAX_DESCRIPTION)):
        read_text(schema, name, path, most=most)
    properties = read_object(schema.get("properties"), f"{path}.properties")
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


def check_labels(schema: Schema, fields: Iterable[Field], *, path: str) -> None:
    """Raises InvalidConfiguration if two options of a new question read alike.

    Reading allows them, because older questions may have such options.
    """
    for field in fields:
        if not field.options:
            continue
        own, place = schema["properties"][field.name], f"{path}.properties.{field.name}"
        if field.kind == "choices":
            own, place = own["items"], f"{place}.items"
        keyword = next(
            name for name in ("enumNames", "enum", "oneOf", "anyOf") if own.get(name) is not None
        )
        labels = (" ".join(option.label.split()) for option in field.options)
        check_unique(labels, f"{place}.{keyword}")


def read_field(name: str, schema: object, *, path: str, is_required: bool = False) -> Field:
    """Reads the schema of one field. `path` names it in errors. Raises InvalidConfiguration."""
    schema = read_object(schema, path)
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        raise InvalidConfiguration(
            say("%(field)s must be one of: %(names)s", field=f"{path}.type", names=", ".join(TYPES))
        )
    check_keywords(schema, _KEYWORDS[kind], path)
    own = _READERS[kind](schema, path)
    title = read_text(schema, "title", path, most=MAX_TITLE)
    return Field(
        name=name,
        title=title if title.strip() else name,
        description=read_text(schema, "description", path, most=MAX_DESCRIPTION),
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
                name=quote(name),
            )
        )
    if name in _RESERVED:
        raise InvalidConfiguration(
            say("%(field)s must not have the name %(name)s", field=path, name=name)
        )


def _read_string(schema: Schema, path: str) -> dict[str, Any]:
    options = read_options(schema, path)
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
    least = read_count(schema, "minLength", path, low=0, high=MAX_TEXT)
    most = read_count(schema, "maxLength", path, low=1, high=MAX_TEXT)
    check_order(least, most, path, "minLength", "maxLength")
    return {"kind": "string", "format": form or "", "least": least, "most": most}


def _read_number(schema: Schema, path: str) -> dict[str, Any]:
    least, most = (read_bound(schema, name, path) for name in ("minimum", "maximum"))
    check_order(least, most, path, "minimum", "maximum")
    is_whole = schema["type"] == "integer"
    if is_whole and least is not None and most is not None and math.ceil(least) > math.floor(most):
        raise InvalidConfiguration(
            say("%(field)s must leave an integer between minimum and maximum", field=path)
        )
    return {"kind": schema["type"], "least": least, "most": most}


def _read_boolean(schema: Schema, path: str) -> dict[str, Any]:
    return {"kind": "boolean"}


def _read_array(schema: Schema, path: str) -> dict[str, Any]:
    items = read_object(schema.get("items"), f"{path}.items")
    check_keywords(items, ("type", *CHOICES), f"{path}.items")
    if items.get("type") not in (None, "string"):
        raise InvalidConfiguration(say("%(field)s must be string", field=f"{path}.items.type"))
    options = read_options(items, f"{path}.items")
    if not options:
        raise InvalidConfiguration(say("%(field)s is required", field=f"{path}.items.enum"))
    if not isinstance(schema.get("uniqueItems", True), bool):
        raise InvalidConfiguration(say("%(field)s must be a boolean", field=f"{path}.uniqueItems"))
    least = read_count(schema, "minItems", path, low=0, high=len(options))
    most = read_count(schema, "maxItems", path, low=1, high=len(options))
    check_order(least, most, path, "minItems", "maxItems")
    return {"kind": "choices", "options": options, "least": least, "most": most}


_READERS = {
    "string": _read_string,
    "number": _read_number,
    "integer": _read_number,
    "boolean": _read_boolean,
    "array": _read_array,
}


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
    check_unique(required, path)
    return required
