"""Compares and checks JSON values that a program proposes or a person edits."""

from typing import Any, Final

from web.json_paths import walk

# Beyond it a double skips whole numbers, so JavaScript and RFC 8785 would change the value.
MAX_EXACT: Final = 2**53 - 1
# Assigning a property of this name in JavaScript changes the object's prototype.
FORBIDDEN_NAME: Final = "__proto__"


def is_same(one: Any, other: Any) -> bool:
    """Tells whether two JSON values are equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return bool(one == other)


def find_inexact(path: str, value: Any) -> str | None:
    """Returns the path of the first number beyond 2^53, None without one."""
    return next(
        (
            place
            for place, each in walk(path, value)
            if isinstance(each, int | float) and abs(each) > MAX_EXACT
        ),
        None,
    )


def find_forbidden_name(path: str, value: Any) -> str | None:
    """Returns the path of the first object with a forbidden name, None without one."""
    objects = ((place, each) for place, each in walk(path, value) if isinstance(each, dict))
    return next((place for place, each in objects if FORBIDDEN_NAME in each), None)
