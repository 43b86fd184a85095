"""Reads the keywords of a flat JSON Schema with strict types; `path` names the schema in errors."""

import json
from collections.abc import Iterable

from reviews.response_types.base import Schema
from reviews.response_types.decimals import to_json_number
from reviews.response_types.faults import InvalidConfiguration
from reviews.response_types.wording import count_characters
from web.phrases import say

MAX_NUMBER = 2**53 - 1  # beyond it, JavaScript reads another number than was sent
MAX_QUOTED = 64  # characters of a name in an error


def read_object(value: object, path: str) -> Schema:
    if value is None:
        raise InvalidConfiguration(say("%(field)s is required", field=path))
    if not isinstance(value, dict):
        raise InvalidConfiguration(say("%(field)s must be an object", field=path))
    return value


def check_keywords(schema: Schema, known: tuple[str, ...], path: str) -> None:
    for name in schema:
        if name not in known:
            raise InvalidConfiguration(
                say(
                    "%(field)s is not supported. %(place)s may have: %(names)s",
                    field=f"{path}.{shorten(name)}",
                    place=path,
                    names=", ".join(known),
                )
            )


def read_text(schema: Schema, name: str, path: str, *, most: int) -> str:
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


def read_count(schema: Schema, name: str, path: str, *, low: int, high: int) -> int | None:
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


def read_bound(schema: Schema, name: str, path: str) -> int | float | None:
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


def check_order(least: float | None, most: float | None, path: str, low: str, high: str) -> None:
    if least is not None and most is not None and least > most:
        raise InvalidConfiguration(
            say("%(field)s must not be greater than %(other)s", field=f"{path}.{low}", other=high)
        )


def check_unique(values: Iterable[str], path: str) -> None:
    seen: set[str] = set()
    for index, value in enumerate(values):
        if value in seen:
            raise InvalidConfiguration(say("%(field)s must be unique", field=f"{path}[{index}]"))
        seen.add(value)


def quote(name: str) -> str:
    return json.dumps(shorten(name), ensure_ascii=False)


def shorten(name: str) -> str:
    return name if len(name) <= MAX_QUOTED else f"{name[:MAX_QUOTED]}…"
