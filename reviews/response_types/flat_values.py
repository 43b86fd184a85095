"""Checks values against the fields of a flat schema, by the library jsonschema.

The library judges; this module writes its faults as sentences. Numbers keep JSON's types: 5.0 is an
integer, "5" and true are no numbers.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

from jsonschema import (  # type: ignore[import-untyped]
    Draft202012Validator,
    FormatChecker,
    ValidationError,
)

from reviews.response_types.base import Schema
from reviews.response_types.decimals import to_json_number
from reviews.response_types.flat_schema import MAX_TEXT, Field, read_field
from reviews.response_types.keywords import MAX_NUMBER
from reviews.response_types.wording import count_characters, count_options
from web.domains import to_ascii
from web.phrases import Phrase, say
from web.sanitize import UNSTORABLE

MAX_EMAIL = 254  # characters
MAX_URI = 2048
_LOCAL_PART: Final = re.compile(r"[^\s@<>()\[\]\\,;:\"\x00-\x1f\x7f]{1,64}")
_MOMENT: Final = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
_CHECKER: Final = FormatChecker(formats=["date"])


def find_fault(field: Field, value: object, *, name: str, has_bounds: bool = True) -> Phrase | None:
    """Returns the sentence about a value that the field does not take; None for a valid one.

    `name` is the field in the sentence: its path for programs, its title for people. Without
    bounds (docs/contract.md, `default.unbounded`) lengths, ranges and counts do not apply.
    """
    validator = Draft202012Validator(build_schema(field, has_bounds), format_checker=_CHECKER)
    error = next(validator.iter_errors(value), None)
    if error is not None:
        return _explain(field, error, name)
    texts = value if isinstance(value, list) else [value]
    if any(isinstance(text, str) and UNSTORABLE.search(text) for text in texts):
        return say("%(field)s contains a character that cannot be stored", field=name)
    return None


def check_value(schema: Schema, value: object, *, path: str) -> Phrase | None:
    """Returns the fault of a value by the schema of one field, which has been checked."""
    return find_fault(read_field(path, schema, path=path), value, name=path)


def normalize(value: Any) -> Any:
    """Returns the value as it is stored: 5.0 as 5."""
    number = to_json_number(value)
    return value if number is None else number


def build_schema(field: Field, has_bounds: bool) -> Schema:
    """Builds the JSON Schema of a field's values."""
    values = [option.value for option in field.options]
    least, most = (field.least, field.most) if has_bounds else (None, None)
    match field.kind:
        case "choice":
            return {"type": "string", "enum": values}
        case "choices":
            bounds = _leave_out({"minItems": least, "maxItems": most})
            items = {"type": "string", "enum": values}
            # in this order: the library compares items of other types each with each
            return {"type": "array", "items": items, "uniqueItems": True, **bounds}
        case "boolean":
            return {"type": "boolean"}
        case "string":
            longest = MAX_TEXT if has_bounds and most is None else most
            bounds = {"minLength": least, "maxLength": longest, "format": field.format or None}
            return {"type": "string", **_leave_out(bounds)}
        case _:
            return {
                "type": field.kind,
                "minimum": -MAX_NUMBER if least is None else least,
                "maximum": MAX_NUMBER if most is None else most,
            }


def _leave_out(keywords: Mapping[str, Any]) -> Schema:
    return {name: value for name, value in keywords.items() if value is not None}


def _explain(field: Field, error: ValidationError, name: str) -> Phrase:
    bound: Any = error.validator_value
    match error.validator:
        case "minimum":
            return say("%(field)s must be at least %(least)s", field=name, least=bound)
        case "maximum":
            return say("%(field)s must be at most %(most)s", field=name, most=bound)
        case "minLength":
            return say(
                "%(field)s must have at least %(characters)s",
                field=name,
                characters=count_characters(bound),
            )
        case "maxLength":
            return say(
                "%(field)s must have at most %(characters)s",
                field=name,
                characters=count_characters(bound),
            )
        case "minItems":
            return say(
                "%(field)s must have at least %(options)s", field=name, options=count_options(bound)
            )
        case "maxItems":
            return say(
                "%(field)s must have at most %(options)s", field=name, options=count_options(bound)
            )
        case "uniqueItems":
            return say("%(field)s must not contain an option twice", field=name)
        case "format":
            return _FORMATS[field.format](name)
        case "enum" if field.kind == "choices":
            return say("%(field)s must only have values of the options", field=name)
        case _:
            return _TYPES[field.kind](name)


_TYPES: Final[Mapping[str, Callable[[str], Phrase]]] = {
    "string": lambda name: say("%(field)s must be a string", field=name),
    "number": lambda name: say("%(field)s must be a number", field=name),
    "integer": lambda name: say("%(field)s must be an integer", field=name),
    "boolean": lambda name: say("%(field)s must be a boolean", field=name),
    "choice": lambda name: say("%(field)s must be one of the options", field=name),
    "choices": lambda name: say("%(field)s must be an array of options", field=name),
}
_FORMATS: Final[Mapping[str, Callable[[str], Phrase]]] = {
    "email": lambda name: say("%(field)s must be an email address", field=name),
    "uri": lambda name: say(
        "%(field)s must be a full URL, such as https://example.com", field=name
    ),
    "date": lambda name: say("%(field)s must be a date such as 2026-12-31", field=name),
    "date-time": lambda name: say(
        "%(field)s must be a date and time with its offset, such as 2026-12-31T18:00:00Z",
        field=name,
    ),
}


def _check_format(name: str) -> Callable[[Callable[[str], bool]], Callable[[str], bool]]:
    def register(is_valid: Callable[[str], bool]) -> Callable[[str], bool]:
        _CHECKER.checks(name)(lambda value: not isinstance(value, str) or is_valid(value))
        return is_valid

    return register


@_check_format("email")
def is_email(text: str) -> bool:
    local, _, domain = text.rpartition("@")
    if len(text) > MAX_EMAIL or not _LOCAL_PART.fullmatch(local):
        return False
    try:
        labels = to_ascii(domain).split(".")
    except UnicodeError:
        return False
    return all(re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", label) for label in labels)


@_check_format("uri")
def is_uri(text: str) -> bool:
    if len(text) > MAX_URI or any(c.isspace() or ord(c) < 33 or ord(c) == 127 for c in text):
        return False
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(_SCHEME.fullmatch(parts.scheme)) and bool(parts.netloc or parts.path)


@_check_format("date-time")
def is_moment(text: str) -> bool:
    if not _MOMENT.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text.upper())
    except ValueError:
        return False
    return True
