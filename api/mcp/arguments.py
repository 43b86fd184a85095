"""Checks the arguments of a tool that no serializer checks: their names, ids and numbers."""

from collections.abc import Collection, Mapping
from typing import Any

from django.http import QueryDict

from api import long_polling
from api.errors import ValidationFailed
from api.idempotency import RULE, parse_key
from api.mcp.errors import ToolFailed, fail
from reviews.models.metadata import MAX_KEY

Arguments = Mapping[str, Any]


def check_names(arguments: Arguments, allowed: Collection[str]) -> None:
    """Raises ToolFailed for an argument that the tool does not have."""
    for name in arguments:
        if name not in allowed:
            raise refuse(f"{name} is not an argument; there are: {', '.join(allowed) or 'none'}")


def read_text(arguments: Arguments, name: str) -> str | None:
    """Returns a string, None if it was left out. Raises ToolFailed."""
    value = arguments.get(name)
    if value is not None and not isinstance(value, str):
        raise refuse(f"{name} must be a string")
    return value


def read_texts(arguments: Arguments, name: str) -> dict[str, str] | None:
    """Returns strings by name, None if they were left out. Raises ToolFailed."""
    value = arguments.get(name)
    if value is None:
        return None
    if not isinstance(value, dict):
        raise refuse(f"{name} must be an object")
    for key, each in value.items():
        if not isinstance(each, str):
            raise refuse(f"{name}.{key[:MAX_KEY]} must be a string")
    return value


def read_required(arguments: Arguments, name: str) -> str:
    """Returns a string. Raises ToolFailed."""
    value = read_text(arguments, name)
    if value is None:
        raise refuse(f"{name} is required")
    return value


def read_digits(arguments: Arguments, name: str) -> str | None:
    """Returns an integer as a query string has it, None if it was left out. Raises ToolFailed."""
    value = arguments.get(name)
    if value is None:
        return None
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not is_whole:
        raise refuse(f"{name} must be an integer")
    return str(int(value))


def read_wait(arguments: Arguments) -> str | None:
    """Returns the seconds to wait as a query string has them. Raises ToolFailed."""
    digits = read_digits(arguments, "wait")
    if digits is not None:
        try:
            long_polling.read_seconds(QueryDict(f"wait={digits}"))
        except ValidationFailed as error:
            raise fail(error) from None
    return digits


def read_idempotency_key(arguments: Arguments) -> str | None:
    """Returns the argument idempotency_key as the header has it: quoted. Raises ToolFailed."""
    key = read_text(arguments, "idempotency_key")
    if key is None:
        return None
    escaped = key.replace("\\", r"\\").replace('"', r"\"")
    quoted = f'"{escaped}"'
    try:
        parse_key(quoted)
    except ValidationFailed:
        raise refuse(RULE.replace("Idempotency-Key", "idempotency_key")) from None
    return quoted


def refuse(detail: str) -> ToolFailed:
    """Builds the failure of a tool whose arguments are wrong."""
    return fail(ValidationFailed(detail))
