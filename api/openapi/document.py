"""Puts the OpenAPI document together: /openapi.json, /docs and `manage.py spectacular`.

The shapes come from the serializers, the sentences from `api.errors`, and what is said about
each operation from the modules beside this one.
"""

from typing import Any, cast

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction
from rest_framework.fields import Field

from api.errors import ApiError, NotFound, ResourceDenied
from api.fields import Identifier, Input, StrictText, Timestamp, WebUrl
from api.openapi import answers, events, keys, listings, loops, requests, responses
from api.openapi.operations import (
    ANY_CASE_ID,
    ID,
    TIMESTAMP,
    Operation,
    Operations,
    Schema,
    Shape,
    nullable,
)
from api.views import ApiView
from web.web_urls import MAX_URL_LENGTH

INTRODUCTION = """
Programs ask people for a decision: create a *loop* of reviewers, let them join it, send
*requests*, and read the answers.

**Key.** Every call carries `Authorization: Bearer <API_KEY>`. A key acts as the account that
owns it, as far as its permissions go.

**Envelope.** Every body is `{"error", "msg", "data"}`. Times are UTC with milliseconds, ids are
24 hexadecimal characters. Unknown fields in a body are ignored; null counts as left out.

**Quota.** A call costs 1 of the key's hour, which begins anew at the full hour (UTC); the
`X-RateLimit-*` headers say what is left. With 429 comes `Retry-After`.

**Failures.** A path that is not listed here is 404, a method that is not listed 405 (with
`Allow`), both in the envelope. 429, 500 and 503 are worth another try, later each time.
""".strip()

SECURITY = {
    "type": "http",
    "scheme": "bearer",
    "description": "An API key. It begins with `rl_live_`.",
}


OPERATIONS: Operations = {
    **keys.OPERATIONS,
    **loops.OPERATIONS,
    **listings.OPERATIONS,
    **requests.OPERATIONS,
}
COMPONENTS = {**answers.COMPONENTS, **events.COMPONENTS}


def find_field(field: Any) -> Schema | None:
    """What is said of a serializer's field; the serializer may have inherited it."""
    for ancestor in type(field.parent).__mro__:
        if (ancestor, field.field_name) in answers.FIELDS:
            return {**answers.FIELDS[ancestor, field.field_name]}
    return None


class ContractSchema(AutoSchema):
    """The description of one operation."""

    @property
    def operation(self) -> Operation:
        return OPERATIONS[type(self.view), self.method]

    def get_operation_id(self) -> str:
        return self.operation.name

    def get_summary(self) -> str:
        return self.operation.summary

    def get_description(self) -> str:  # type: ignore[override]
        return self.operation.description

    def get_tags(self) -> list[str]:
        return [self.operation.tag]

    def get_auth(self) -> list[Schema]:
        return [{"key": []}]

    def _get_parameters(self) -> list[Schema]:
        path = [
            {
                "name": name,
                "in": "path",
                "required": True,
                "description": text,
                "schema": ANY_CASE_ID,
            }
            for name, text in self.operation.paths.items()
        ]
        query = [
            {
                "name": item.name,
                "in": "query",
                "description": item.description,
                "schema": item.schema,
            }
            for item in self.operation.query
        ]
        return path + query

    def _get_request_body(self, direction: Direction = "request") -> Schema | None:
        body = self.operation.body
        if body is None:
            return None
        reference = self.resolve(body.serializer, "request")
        content = {
            "schema": body.schema or reference,
            "examples": {name: {"value": value} for name, value in body.examples.items()},
        }
        return {"required": True, "content": {"application/json": content}}

    def _get_response_bodies(self, direction: Direction = "response") -> Schema:
        operation = self.operation
        data = {
            "type": "object",
            "properties": {
                name: self.resolve(shape, "response") for name, shape in operation.data.items()
            },
            "required": list(operation.data),
            "additionalProperties": False,
        }
        done = responses.success(operation.status, operation.message, data, operation.example)
        if operation.links:
            done["links"] = {
                name: {"operationId": name, "parameters": dict(parameters)}
                for name, parameters in operation.links.items()
            }
        return {str(operation.status): done, **self.failures()}

    def failures(self) -> Schema:
        """Every failure that the operation can answer with, by status."""
        own: list[type[ApiError]] = [*self.operation.errors]
        view = cast(ApiView, self.view)
        if view.permissions[self.method] is not None:
            own.append(ResourceDenied)
        if self.operation.paths:
            own.append(NotFound)  # a slash in a variable makes it another path
        own.append(view.failures[self.method])
        answers: Schema = responses.common()
        for status in sorted({error.status for error in own}):
            answers[str(status)] = responses.failure(e for e in own if e.status == status)
        return dict(sorted(answers.items()))

    def resolve(self, shape: Shape, direction: Direction) -> Schema:
        """The JSON schema of a shape; serializers become components."""
        if isinstance(shape, dict):
            return shape
        if isinstance(shape, list):
            return {"type": "array", "items": self.resolve(shape[0], direction)}
        reference: Schema = self.resolve_serializer(shape, direction).ref
        return reference

    def _map_serializer_field(
        self, field: Any, direction: Direction, bypass_extensions: bool = False
    ) -> Schema:
        known = find_field(field)
        if known is not None:
            return known
        schema: Schema = super()._map_serializer_field(  # type: ignore[no-untyped-call]
            field, direction, bypass_extensions
        )
        schema.pop("x-spec-enum-id", None)
        schema.pop("readOnly", None)
        return {**schema, **bounds(field)}

    def _map_basic_serializer(self, serializer: Any, direction: Direction) -> Schema:
        """Closed for what we give; for what we take, open, and null counts as left out."""
        schema: Schema = super()._map_basic_serializer(  # type: ignore[no-untyped-call]
            serializer, direction
        )
        taken = isinstance(serializer, Input) or (
            isinstance(serializer, type) and issubclass(serializer, Input)
        )
        if not taken:
            return {
                **schema,
                "required": [*schema["properties"]],
                "additionalProperties": False,
            }
        required = schema.get("required", [])
        properties = {
            name: value if name in required else nullable(value)
            for name, value in schema["properties"].items()
        }
        return {**schema, "properties": properties}


def bounds(field: Field[Any, Any, Any, Any]) -> Schema:
    """What the framework cannot see in our fields."""
    if isinstance(field, Identifier):
        return {"pattern": ID["pattern"]}
    if isinstance(field, Timestamp):
        return {"pattern": TIMESTAMP["pattern"]}
    if isinstance(field, WebUrl):
        return {"pattern": "^https?://", "maxLength": MAX_URL_LENGTH}
    if isinstance(field, StrictText) and field.shortest:
        return {"minLength": field.shortest, "pattern": r"\S"}
    return {}


def without_slash(endpoints: list[tuple[str, str, str, Any]]) -> list[tuple[str, str, str, Any]]:
    """The paths as the specification writes them. A pre-processing hook of drf-spectacular."""
    return [(path.rstrip("/"), regex, method, view) for path, regex, method, view in endpoints]


def complete(result: Schema, **_: Any) -> Schema:
    """Adds what belongs to no single operation. A post-processing hook of drf-spectacular."""
    result["info"]["description"] = INTRODUCTION
    result["security"] = [{"key": []}]
    shared = result["components"]
    shared["securitySchemes"] = {"key": SECURITY}
    shared.update(responses.components())
    shared["schemas"].update(COMPONENTS)
    result["webhooks"] = {**events.WEBHOOKS}
    shared["schemas"] = dict(sorted(shared["schemas"].items()))
    return result
