"""Reads single fields of a `response_config` with strict types (docs/contract.md, `config`).

If a function takes several names, the first is the contract's and the others are aliases. The
first name that is present counts, and errors use the name that the client sent.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from reviews.response_types.decimals import to_decimal, to_json_number
from reviews.response_types.faults import InvalidConfiguration
from web.phrases import say

Config = Mapping[str, Any]


def is_set(config: Config, *names: str) -> bool:
    return _find_field(config, names)[1] is not None


def read_integer(
    config: Config, *names: str, low: int, high: int, default: int | None = None
) -> int:
    """Returns the integer, 60.0 as 60. Without a default the field is mandatory."""
    name, value = _find_field(config, names)
    if value is None:
        return _require_default(name, default)
    number = to_json_number(value)
    if not isinstance(number, int) or not low <= number <= high:
        raise InvalidConfiguration(
            say(
                "%(field)s must be an integer between %(least)s and %(most)s",
                field=name,
                least=low,
                most=high,
            )
        )
    return number


def read_decimal(config: Config, *names: str, default: int | None = None) -> Decimal:
    """Returns the number as a decimal. Without a default the field is mandatory."""
    name, value = _find_field(config, names)
    if value is None:
        return Decimal(_require_default(name, default))
    number = to_json_number(value)
    if number is None:
        raise InvalidConfiguration(say("%(field)s must be a number", field=name))
    return to_decimal(number)


def read_flag(config: Config, name: str, *, default: bool) -> bool:
    value = config.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise InvalidConfiguration(say("%(field)s must be a boolean", field=name))
    return value


def read_string(config: Config, name: str) -> str:
    """Returns the string, '' if the field is missing."""
    value = config.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidConfiguration(say("%(field)s must be a string", field=name))
    return value


def _find_field(config: Config, names: tuple[str, ...]) -> tuple[str, Any]:
    for name in names:
        value = config.get(name)
        if value is not None:
            return name, value
    return names[0], None


def _require_default(name: str, default: int | None) -> int:
    if default is None:
        raise InvalidConfiguration(say("%(field)s is required", field=name))
    return default
