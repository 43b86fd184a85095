"""The response types: one class for each kind of answer (docs/contract.md, `config`).

A class holds everything about its type: the configuration, the checks of a default and of an
answer, the parsing of a posted form, the widget, and its part of the OpenAPI document. A type is
active once it is in TYPES. The rules are pure. Values come from the JSON parser, which has
already refused NaN, infinities and strings that cannot be stored.
"""

from reviews.response_types.approval.kind import Approval
from reviews.response_types.base import Answer, ResponseType
from reviews.response_types.faults import (
    InvalidAnswer,
    InvalidConfiguration,
    InvalidDefault,
    InvalidFields,
    Unconfirmed,
    UnknownResponseType,
)
from reviews.response_types.form import Form
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
    "InvalidFields",
    "ResponseType",
    "Unconfirmed",
    "UnknownResponseType",
    "get_response_type",
    "list_names",
]

# By name, in the order of the rows `config`.
TYPES: dict[str, ResponseType] = {
    each.name: each
    for each in (
        Text(),
        SingleSelect(),
        MultiSelect(),
        Rating(),
        Number(),
        Form(),
        Approval(),
    )
}


def get_response_type(name: str) -> ResponseType:
    """Returns the type with that name. Raises UnknownResponseType."""
    try:
        return TYPES[name]
    except KeyError:
        raise UnknownResponseType(name) from None


def list_names() -> tuple[str, ...]:
    """Lists the names of all types, in the order of `TYPES`."""
    return tuple(TYPES)
