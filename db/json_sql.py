"""Builds SQL expressions that write JSON.

Each column states how it is written. `escaped` is the default and works for every type. `word`
and `raw` are cheaper, but only safe for the values that their docstrings name.
"""

from collections.abc import Mapping
from dataclasses import dataclass

MILLISECONDS = """'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'"""


@dataclass(frozen=True, slots=True)
class Value:
    """An SQL expression of type text that is JSON, or NULL for JSON's null."""

    sql: str


def escaped(sql: str) -> Value:
    """Writes any value of any type; PostgreSQL escapes it."""
    return Value(f"to_json({sql})::text")


def word(sql: str) -> Value:
    """Writes a text that needs no escaping: an id, a choice or a time."""
    return Value(f"""'"' || ({sql}) || '"'""")


def raw(sql: str) -> Value:
    """Writes a number, or stored JSON as it is."""
    return Value(f"({sql})::text")


def moment(column: str) -> Value:
    """Writes a time in the format of the API contract (resolved gap 7)."""
    return word(moment_text(column))


def moment_text(column: str) -> str:
    """Writes the same time as text, without quotes."""
    return f"to_char({column} AT TIME ZONE 'UTC', {MILLISECONDS})"


def whole_milliseconds(column: str) -> str:
    """Converts a time to whole milliseconds since 1970, the precision of the API."""
    return f"floor(extract(epoch FROM {column}) * 1000)"


def json_object(fields: Mapping[str, str | Value]) -> str:
    """Builds SQL that writes a JSON object as text; a plain string is escaped.

    `json_build_object` looks up the type of each argument for every row, which takes most of its
    time. `concat` does this once per statement. Raises ValueError if there are no fields.
    """
    if not fields:
        raise ValueError("a JSON object needs at least one field")
    pieces = [
        f"""'{"," if index else "{"}"{name}":', coalesce({as_value(field).sql}, 'null')"""
        for index, (name, field) in enumerate(fields.items())
    ]
    return f"concat({', '.join(pieces)}, '}}')"


def as_value(field: str | Value) -> Value:
    """Returns a declared field unchanged, and wraps a plain expression in `escaped`."""
    return escaped(field) if isinstance(field, str) else field
