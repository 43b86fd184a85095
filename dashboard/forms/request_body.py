"""Builds parts of the body that a program would send, from what was typed into a new request.

Text that is no value of its field is passed on: the API's check reports it.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from dashboard.forms.answer_settings import build_config
from dashboard.forms.policy import read_any_vote
from reviews.policy import MEDIAN
from reviews.response_types import TYPES, InvalidAnswer, ResponseType
from reviews.response_types.decimals import to_decimal, to_json_number
from reviews.response_types.posted import read_number, unify_newlines
from web.languages import decimal_mark
from web.strict_json import InvalidJSON, parse_object

UNITS = {"seconds": 1, "minutes": 60, "hours": 3600}


def build_response_fields(typed: dict[str, Any]) -> dict[str, Any]:
    """Builds the fields about the response. Passes an unknown type on; the API rejects it."""
    name, default = typed["response_type"], unify_newlines(typed["default_response"])
    kind = TYPES.get(name)
    return {
        "response_type": name,
        "response_config": build_config(kind, typed) if kind else {},
        "default_response": _read_default(kind, default) if kind else default,
    }


def choose_reader(typed: dict[str, Any]) -> Callable[[str], Any]:
    """Returns the function that reads a typed veto: as a number for types with a median."""
    kind = TYPES.get(typed["response_type"])
    return read_any_vote if kind and MEDIAN in kind.rules else str


def _read_default(kind: ResponseType, typed: str) -> Any:
    if kind.is_object:
        with suppress(InvalidJSON):
            return parse_object((typed.strip() or "{}").encode(errors="replace"))
    try:
        read = kind.read_default(typed, point=decimal_mark())
    except InvalidAnswer:
        return typed.strip()
    return "" if read is None else read


def read_seconds(typed: str, unit: str) -> Any:
    """Returns the seconds, or the text itself if it is no number."""
    try:
        number = read_number(typed, point=decimal_mark())
    except InvalidAnswer:
        return typed.strip()
    seconds = to_decimal(number or 0) * UNITS.get(unit, 60)
    return to_json_number(float(seconds))


def read_objects(typed: dict[str, Any], *names: str) -> dict[str, Any]:
    """Returns the fields that are JSON objects, as far as they can be read."""
    objects = {}
    for name in names:
        with suppress(InvalidJSON):
            if typed[name].strip():
                objects[name] = parse_object(typed[name].encode(errors="replace"))
    return objects
