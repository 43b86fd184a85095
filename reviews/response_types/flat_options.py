"""The options of a field of a form: `enum` with or without names, or `oneOf` with titles."""

from reviews.response_types.base import Schema
from reviews.response_types.faults import InvalidConfiguration
from reviews.response_types.keywords import check_keywords, check_unique, read_object
from reviews.response_types.options import MAX_OPTIONS, Option
from reviews.response_types.posted import unify_newlines
from web.phrases import say

CHOICES = ("enum", "enumNames", "oneOf", "anyOf")


def read_options(schema: Schema, path: str) -> tuple[Option, ...]:
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
    check_unique((unify_newlines(each.value) for each in options), place)
    return tuple(options)


def _read_enum_names(names: object, count: int, path: str) -> list[str]:
    if names is None:
        return []
    if not isinstance(names, list) or len(names) != count:
        raise InvalidConfiguration(say("%(field)s must have as many entries as enum", field=path))
    return [_read_label(each, f"{path}[{index}]") for index, each in enumerate(names)]


def _read_titled(entry: object, path: str) -> Option:
    entry = read_object(entry, path)
    check_keywords(entry, ("const", "title"), path)
    value = _read_label(entry.get("const"), f"{path}.const")
    title = entry.get("title")
    return Option(value, value if title is None else _read_label(title, f"{path}.title"))


def _read_label(text: object, path: str) -> str:
    if text is not None and not isinstance(text, str):
        raise InvalidConfiguration(say("%(field)s must be a string", field=path))
    if not text or text.isspace():  # such a choice would be invisible
        raise InvalidConfiguration(say("%(field)s is required", field=path))
    return text
