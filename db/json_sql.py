"""SQL expressions that write JSON.

A column states how it is written. `escaped` is right for every type and the default; `word` and
`raw` are cheaper, and right only for what they name.
"""

from collections.abc import Mapping
from dataclasses import dataclass

MILLISECONDS = """'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'"""


@dataclass(frozen=True, slots=True)
class Value:
    """An SQL expression of type text that is JSON, or NULL for JSON's null."""

    sql: str


def escaped(sql: str) -> Value:
    """Any value of any type, escaped by PostgreSQL."""
    return Value(f"to_json({sql})::text")


def word(sql: str) -> Value:
    """A text that needs no escaping: an identifier, a choice, a time."""
    return Value(f"""'"' || ({sql}) || '"'""")


def raw(sql: str) -> Value:
    """A number, or JSON as it is stored."""
    return Value(f"({sql})::text")


def moment(column: str) -> Value:
    """A time as the contract writes it (resolved gap 7)."""
    return word(moment_text(column))


def moment_text(column: str) -> str:
    """The same as bare text, without quotes."""
    return f"to_char({column} AT TIME ZONE 'UTC', {MILLISECONDS})"


def whole_milliseconds(column: str) -> str:
    """A time in whole milliseconds since 1970, as a client sees it."""
    return f"floor(extract(epoch FROM {column}) * 1000)"


def json_object(fields: Mapping[str, str | Value]) -> str:
    """SQL that writes a JSON object as text; a bare string is an expression to be escaped.

    `json_build_object` looks every argument's type up for every row, which takes most of its
    time; `concat` does so once in a statement. Raises ValueError without a field.
    """
    if not fields:
        raise ValueError("a JSON object needs at least one field")
    pieces = [
        f"""'{"," if place else "{"}"{name}":', coalesce({as_value(field).sql}, 'null')"""
        for place, (name, field) in enumerate(fields.items())
    ]
    return f"concat({', '.join(pieces)}, '}}')"


def as_value(field: str | Value) -> Value:
    """The field as it was declared; a bare expression is escaped."""
    return escaped(field) if isinstance(field, str) else field
