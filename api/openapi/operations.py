"""The types and schema builders that describe operations in the OpenAPI document.

`keys`, `loops`, `listings`, `requests` and `streams` in this folder each have `OPERATIONS`, a
mapping from view and method to an Operation. `document` combines them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rest_framework.serializers import Serializer

from api.errors import ApiError

Schema = dict[str, Any]
# Describes a value: a JSON schema, a serializer, or a list of one serializer's objects.
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
    """An optional query parameter or header. An object is many: `name[key]=value`."""

    name: str
    description: str
    schema: Schema

    @property
    def style(self) -> Schema:
        """How OpenAPI says that an object is many."""
        is_object = self.schema.get("type") == "object"
        return {"style": "deepObject", "explode": True} if is_object else {}


@dataclass(frozen=True, slots=True)
class Body:
    """The body that a client sends, with named examples.

    `schema` replaces the reference to the serializer's component.
    """

    serializer: type[Serializer[Any]]
    examples: Mapping[str, Mapping[str, Any]]
    schema: Schema | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path. `data` has the fields of a success; with `is_stream` it is a stream
    of server-sent events, and `message` describes it. `errors` are particular to the operation;
    those that every operation has (key, quota, permission, failure, outage) are added. `paths`
    describes each variable of the path. `links` maps the next operations to the parameters that
    they take from the response. `headers` are those of a success beside the quota's, and
    `own_headers` those that only this operation reads. `takes_trace` says that the webhooks of what
    it does continue the caller's trace.
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
    headers: tuple[str, ...] = ()
    takes_trace: bool = False
    own_headers: tuple[Parameter, ...] = ()
    is_stream: bool = False
    content_type: str = "text/event-stream"  # of a stream


# The keys are a view and a method.
Operations = dict[tuple[type, str], Operation]


def object_of(
    properties: Mapping[str, Schema],
    *,
    optional: Iterable[str] = (),
    open_to_more: bool = False,
    **keywords: Any,
) -> Schema:
    """Builds the schema of an object; other properties are allowed if `open_to_more`."""
    optional_names = set(optional)
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional_names],
        "additionalProperties": open_to_more,
        **keywords,
    }


def one_of(values: Iterable[str], **keywords: Any) -> Schema:
    """Builds the schema of a string that is one of `values`."""
    return {"type": "string", "enum": list(values), **keywords}


def nullable(schema: Schema) -> Schema:
    """Allows null in a schema too.

    The values of an enumeration stay by themselves: generators make one class of them.
    """
    if "type" not in schema or "enum" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return {**schema, "type": [*types, "null"]}


def component(name: str, kind: str = "schemas") -> Schema:
    """Builds a reference to a named component."""
    return {"$ref": f"#/components/{kind}/{name}"}
