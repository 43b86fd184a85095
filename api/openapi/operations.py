"""The terms in which the OpenAPI document describes calls: operations, parameters, schemas.

`keys`, `loops`, `listings` and `requests` beside this module describe the calls as `OPERATIONS`,
from a view and a method to an Operation; `document` puts them together.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rest_framework.serializers import Serializer

from api.errors import ApiError

Schema = dict[str, Any]
# What stands for a value: a JSON schema, a serializer, or a list of what a serializer gives.
Shape = Schema | type[Serializer[Any]] | list[type[Serializer[Any]]]

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
BOOLEAN: Schema = {"type": "boolean"}
ID: Schema = {"type": "string", "pattern": "^[0-9a-f]{24}$"}
ANY_CASE_ID: Schema = {"type": "string", "pattern": "^[0-9a-fA-F]{24}$"}
TIMESTAMP: Schema = {
    "type": "string",
    "format": "date-time",
    "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$",
}
NO_DETAIL: Schema = {"type": "object", "maxProperties": 0}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A query parameter. None is required."""

    name: str
    description: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class Body:
    """What the client sends, with named examples.

    `schema` stands in for a reference to the serializer's component, on which it builds.
    """

    serializer: type[Serializer[Any]]
    examples: Mapping[str, Mapping[str, Any]]
    schema: Schema | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """One call.

    `data` are the fields of a success; `errors` are the call's own, and what every call can meet
    (key, quota, permission, failure, outage) is added to them. `paths` says in words what stands
    for each variable of the path. `links` names the operations that a success leads to, each with
    the parameters that it fills.
    """

    name: str
    tag: str
    summary: str
    description: str
    message: str
    data: Mapping[str, Shape]
    example: Mapping[str, Any]
    status: int = 200
    errors: tuple[type[ApiError], ...] = ()
    query: tuple[Parameter, ...] = ()
    body: Body | None = None
    paths: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


# From a view and a method.
Operations = dict[tuple[type, str], Operation]


def object_of(
    properties: Mapping[str, Schema],
    *,
    optional: Iterable[str] = (),
    open_to_more: bool = False,
    **keywords: Any,
) -> Schema:
    """An object with these properties, and no others unless it is open to more."""
    left_out = set(optional)
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in left_out],
        "additionalProperties": open_to_more,
        **keywords,
    }


def one_of(values: Iterable[str], **keywords: Any) -> Schema:
    """One of a few strings."""
    return {"type": "string", "enum": list(values), **keywords}


def nullable(schema: Schema) -> Schema:
    """The same, or null."""
    if "type" not in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    widened: Schema = {**schema, "type": [*types, "null"]}
    if "enum" in schema:
        widened["enum"] = [*schema["enum"], None]
    return widened


def component(name: str, kind: str = "schemas") -> Schema:
    """A reference to a named component."""
    return {"$ref": f"#/components/{kind}/{name}"}
