"""Single fields of a `response_config`, strictly typed (resolved gap 5).

Where a function takes several names, the first is the contract's and the others are aliases; the
first one that is there counts, and a complaint uses the name that the client sent.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from reviews.response_types.decimals import exact, json_number
from reviews.response_types.faults import InvalidConfiguration

Config = Mapping[str, Any]


def given(config: Config, *names: str) -> bool:
    return _sent(config, names)[1] is not None


def integer(config: Config, *names: str, low: int, high: int, default: int | None = None) -> int:
    """The integer, 60.0 being 60. Without a default the field is mandatory."""
    name, value = _sent(config, names)
    if value is None:
        return _default(name, default)
    number = json_number(value)
    if not isinstance(number, int) or not low <= number <= high:
        raise InvalidConfiguration(f"{name} must be an integer between {low} and {high}")
    return number


def decimal(config: Config, *names: str, default: int | None = None) -> Decimal:
    """The number, in decimals. Without a default the field is mandatory."""
    name, value = _sent(config, names)
    if value is None:
        return Decimal(_default(name, default))
    number = json_number(value)
    if number is None:
        raise InvalidConfiguration(f"{name} must be a number")
    return exact(number)


def flag(config: Config, name: str, *, default: bool) -> bool:
    value = config.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise InvalidConfiguration(f"{name} must be a boolean")
    return value


def string(config: Config, name: str) -> str:
    """The string, '' where there is none."""
    value = config.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidConfiguration(f"{name} must be a string")
    return value


def _sent(config: Config, names: tuple[str, ...]) -> tuple[str, Any]:
    for name in names:
        value = config.get(name)
        if value is not None:
            return name, value
    return names[0], None


def _default(name: str, default: int | None) -> int:
    if default is None:
        raise InvalidConfiguration(f"{name} is required")
    return default
