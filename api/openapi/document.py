"""Builds the OpenAPI document for /openapi.json, /docs and `manage.py spectacular`.

The schemas come from the serializers, the error sentences from `api.errors`, and the descriptions
of the operations from the other modules of this folder.
"""

from typing import Any, cast

from django.conf import settings
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction
from rest_framework.fields import Field

from api.authentication import REVIEW_TOKENS
from api.errors import ApiError, NotFound, ResourceDenied
from api.fields import Identifier, Input, StrictText, Timestamp, WebUrl
from api.openapi import (
    answers,
    decisions,
    events,
    keys,
    listings,
    loops,
    receipts,
    requests,
    responses,
    reviewing,
    streams,
    webhook_endpoints,
)
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

**Key.** Every call carries `Authorization: Bearer <API_KEY>`. A key acts for the account that
owns it, within the permissions of the key. Only the paths below `/v1/review` take a review token
instead, which acts for the person who made it.

**Envelope.** Every body is `{"error", "msg", "data"}`. Times are UTC with milliseconds, ids are
24 hexadecimal characters. Unknown fields in a body are ignored; null counts as left out.

**Quota.** Each call uses 1 of the key's calls for the hour. The count starts again at every full
hour (UTC); the headers `X-RateLimit-*` and `RateLimit` say how many calls remain. A 429 or 503
response has `Retry-After`. Nothing needs polling: `wait`, webhooks and the stream of events tell
the answer as soon as it is there.

**Errors.** A path that is not listed here returns 404 'Not found', and a method that is not listed
returns 405 'Method not allowed' (with `Allow`), both in the envelope. A `Host` header that is not
this service's returns 400 'Unknown host'. After 429, 500 or 503, try again, and wait longer each
time.
""".strip()

SECURITY = {
    "type": "http",
    "scheme": "bearer",
    "description": "An API key. It begins with `rl_live_`.",
}
REVIEW_SECURITY = {
    "type": "http",
    "scheme": "bearer",
    "description": "A review token of a person. It begins with `rl_review_`.",
}

OPERATIONS: Operations = {
    **keys.OPERATIONS,
    **loops.OPERATIONS,
    **listings.OPERATIONS,
    **requests.OPERATIONS,
    **receipts.OPERATIONS,
    **reviewing.OPERATIONS,
    **streams.OPERATIONS,
    **webhook_endpoints.OPERATIONS,
    **decisions.OPERATIONS,
}
FIELDS = {**answers.FIELDS, **webhook_endpoints.FIELDS}
COMPONENTS = {**answers.COMPONENTS, **events.COMPONENTS}
TAGS = {
    "Key": "The API key of the call.",
    "Loops": "Groups of people who answer, and their members.",
    "Requests": "Questions to a loop, their answers, and feedback on them.",
    "Events": "What happens to requests: as a stream, and posted to its `callback_url` "
    "and to the webhook endpoints of the account.",
    "Review": "What a person answers without a browser, with a review token.",
}


def find_field(field: Any) -> Schema | None:
    """Returns the schema that `FIELDS` has for a serializer's field, inherited ones included."""
    for ancestor in type(field.parent).__mro__:
        if (ancestor, field.field_name) in FIELDS:
            return {**FIELDS[ancestor, field.field_name]}
    return None


class ContractSchema(AutoSchema):
    """Describes one operation to drf-spectacular."""

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
        view = cast(ApiView, self.view)
        return [{"reviewToken" if view.credentials is REVIEW_TOKENS else "key": []}]

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
        own = [
            {
                "name": item.name,
                "in": where,
                "description": item.description,
                "schema": item.schema,
                **item.style,
            }
            for where, items in (
                ("query", self.operation.query),
                ("header", self.operation.own_headers),
            )
            for item in items
        ]
        headers = [responses.IDEMPOTENCY_KEY] if self.method == "POST" else []
        headers += [responses.TRACEPARENT] if self.operation.takes_trace else []
        return path + own + headers

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
        if operation.is_stream:
            success = responses.build_stream(
                operation.message, operation.example["text"], operation.content_type
            )
            return {str(operation.status): success, **self.build_failures()}
        data = {
            "type": "object",
            "properties": {
                name: self.resolve(shape, "response") for name, shape in operation.data.items()
            },
            "required": list(operation.data),
            "additionalProperties": False,
        }
        success = responses.build_success(
            operation.status, operation.message, data, operation.example, operation.headers
        )
        if operation.links:
            success["links"] = {
                name: {"operationId": name, "parameters": dict(parameters)}
                for name, parameters in operation.links.items()
            }
        return {str(operation.status): success, **self.build_failures()}

    def build_failures(self) -> Schema:
        """Builds every error response of the operation, by status."""
        errors: list[type[ApiError]] = [*self.operation.errors]
        view = cast(ApiView, self.view)
        if view.permissions[self.method] is not None:
            errors.append(ResourceDenied)
        if self.operation.paths:
            errors.append(NotFound)  # a path with a slash in an id is unknown
        if self.method == "POST":
            errors += responses.IDEMPOTENCY_ERRORS
        errors.append(view.failures[self.method])
        failures: Schema = responses.refer_to_common(view.credentials)
        for status in sorted({error.status for error in errors}):
            failures[str(status)] = responses.build_failure(
                error for error in dict.fromkeys(errors) if error.status == status
            )
        return dict(sorted(failures.items()))

    def resolve(self, shape: Shape, direction: Direction) -> Schema:
        """Returns the JSON schema of a shape; serializers become components."""
        if isinstance(shape, dict):
            return shape
        if isinstance(shape, list):
            return {"type": "array", "items": self.resolve(shape[0], direction)}
        reference: Schema = self.resolve_serializer(shape, direction).ref
        return reference

    def _map_serializer_field(
        self, field: Any, direction: Direction, bypass_extensions: bool = False
    ) -> Schema:
        described = find_field(field)
        if described is not None:
            return described
        schema: Schema = super()._map_serializer_field(  # type: ignore[no-untyped-call]
            field, direction, bypass_extensions
        )
        schema.pop("x-spec-enum-id", None)
        schema.pop("readOnly", None)
        return {**schema, **get_bounds(field)}

    def _map_basic_serializer(self, serializer: Any, direction: Direction) -> Schema:
        """Forbids unknown fields in responses only; allows null in a body's optional fields."""
        schema: Schema = super()._map_basic_serializer(  # type: ignore[no-untyped-call]
            serializer, direction
        )
        is_input = isinstance(serializer, Input) or (
            isinstance(serializer, type) and issubclass(serializer, Input)
        )
        if not is_input:
            optional = getattr(serializer, "optional", ())
            return {
                **schema,
                "required": [name for name in schema["properties"] if name not in optional],
                "additionalProperties": False,
            }
        required = schema.get("required", [])
        properties = {
            name: value if name in required else nullable(value)
            for name, value in schema["properties"].items()
        }
        return {**schema, "properties": properties}


def get_bounds(field: Field[Any, Any, Any, Any]) -> Schema:
    """Returns the limits of our own fields, which drf-spectacular does not know."""
    if isinstance(field, Identifier):
        return {"pattern": ID["pattern"]}
    if isinstance(field, Timestamp):
        return {"pattern": TIMESTAMP["pattern"]}
    if isinstance(field, WebUrl):
        return {"pattern": "^(https?://.+)?$", "maxLength": MAX_URL_LENGTH}
    if isinstance(field, StrictText) and field.shortest:
        return {"minLength": field.shortest, "pattern": r"\S"}
    return {}


def strip_slashes(endpoints: list[tuple[str, str, str, Any]]) -> list[tuple[str, str, str, Any]]:
    """Removes the final slash of each path. A pre-processing hook of drf-spectacular."""
    return [(path.rstrip("/"), regex, method, view) for path, regex, method, view in endpoints]


def complete(result: Schema, **_: Any) -> Schema:
    """Adds the parts that all operations share. A post-processing hook of drf-spectacular."""
    result["info"] |= {
        "description": INTRODUCTION,
        "license": {"name": "MIT", "identifier": "MIT"},
        "contact": {"name": "The operator of this service", "url": settings.SITE_URL},
    }
    result["servers"] = [{"url": settings.SITE_URL, "description": "This service."}]
    result["tags"] = [{"name": name, "description": text} for name, text in TAGS.items()]
    result["security"] = [{"key": []}]
    components = result["components"]
    components["securitySchemes"] = {"key": SECURITY, "reviewToken": REVIEW_SECURITY}
    shared = responses.build_components()
    components["schemas"].update(shared.pop("schemas") | COMPONENTS)
    components.update(shared)
    answers.add_request_schemas(components["schemas"])
    result["webhooks"] = {**events.WEBHOOKS}
    components["schemas"] = dict(sorted(components["schemas"].items()))
    return result
