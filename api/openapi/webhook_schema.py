"""The JSON Schema of the body of a webhook, from the schemas of the OpenAPI document."""

import re
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from api.envelope import dumps
from api.openapi.operations import TIMESTAMP, Schema, component, object_of
from api.openapi.pages import load_document
from webhooks.models import TEST_EVENT

PATH: Final = "webhook.schema.json"
_REFERENCE = re.compile("#/components/schemas/(.+)")
TEST: Final[Schema] = object_of(
    {
        "event": {"type": "string", "const": TEST_EVENT},
        "timestamp": TIMESTAMP,
        "data": {"type": "object"},
    },
    description="A test event, which the account holder sends from the dashboard.",
)


@require_safe
def webhook_schema(request: HttpRequest) -> HttpResponse:
    """Responds with the JSON Schema of the body of a webhook."""
    return HttpResponse(dumps(build_webhook_schema()), content_type="application/schema+json")


@cache
def build_webhook_schema() -> Schema:
    """Builds the schema. It allows unknown fields, because events may get more fields later."""
    known = {**load_document()["components"]["schemas"], "TestEvent": TEST}
    root = {"oneOf": [component("Event"), component("TestEvent")]}
    definitions: dict[str, Schema] = {}
    collect(root, known, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{settings.SITE_URL}/{PATH}",
        "title": "Review Loop webhook",
        "description": "The body of a POST to a receiver of events.",
        **convert(root),
        "$defs": dict(sorted(definitions.items())),
    }


def collect(schema: Any, known: dict[str, Schema], found: dict[str, Schema]) -> None:
    """Adds the schemas that this one refers to, directly or indirectly, to `found`."""
    if isinstance(schema, list):
        for each in schema:
            collect(each, known, found)
    elif isinstance(schema, dict):
        reference = _REFERENCE.fullmatch(str(schema.get("$ref", "")))
        if reference and reference[1] not in found:
            found[reference[1]] = convert(known[reference[1]])
            collect(known[reference[1]], known, found)
        collect(list(schema.values()), known, found)


def convert(schema: Any) -> Any:
    """Moves references to $defs, and allows unknown fields."""
    if isinstance(schema, list):
        return [convert(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _REFERENCE.sub(r"#/$defs/\1", value) if name == "$ref" else convert(value)
        for name, value in schema.items()
        if (name, value) != ("additionalProperties", False)
    }
