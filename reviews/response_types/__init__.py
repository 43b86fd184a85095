"""The response types: one class for each kind of answer (specification, "Response configuration").

A class holds all that is particular to its type: the configuration, the check of a default and of
an answer, the parsing of a posted form, the widget, and what the OpenAPI document says of it. A
type belongs to the product once it is listed in TYPES. The rules are pure. Values are what the
JSON parser gives: it has already refused NaN, infinities and unstorable strings.
"""

from reviews.response_types.base import Answer, ResponseType
from reviews.response_types.faults import (
    InvalidAnswer,
    InvalidConfiguration,
    InvalidDefault,
    UnknownResponseType,
)
from reviews.response_types.multi_select import MultiSelect
from reviews.response_types.number import Number
from reviews.response_types.rating import Rating
from reviews.response_types.single_select import SingleSelect
from reviews.response_types.text import Text

__all__ = [
    "TYPES",
    "Answer",
    "InvalidAnswer",
    "InvalidConfiguration",
    "InvalidDefault",
    "ResponseType",
    "UnknownResponseType",
    "names",
    "response_type",
]

# By name, in the order of the specification.
TYPES: dict[str, ResponseType] = {
    each.name: each for each in (Text(), SingleSelect(), MultiSelect(), Rating(), Number())
}


def response_type(name: str) -> ResponseType:
    """The type of that name. Raises UnknownResponseType."""
    try:
        return TYPES[name]
    except KeyError:
        raise UnknownResponseType(name) from None


def names() -> tuple[str, ...]:
    """The names of all types, in the order of the specification."""
    return tuple(TYPES)
