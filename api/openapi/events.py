"""OpenAPI descriptions of webhooks (docs/webhooks.md)."""

from typing import Any, Final

from api.openapi.answers import STATUS
from api.openapi.examples import DETAIL, REVIEWER
from api.openapi.loops import LOOP
from api.openapi.operations import (
    ID,
    STRING,
    TIMESTAMP,
    Schema,
    component,
    nullable,
    object_of,
    one_of,
)
from api.serializers.requests import RequestDetail

SUMMARIES: Final = {
    "request.created": "The request was created. Only webhook endpoints get this event.",
    "request.claimed": "A reviewer claimed the request.",
    "request.completed": "A reviewer's answer completed the request.",
    "request.timeout": "The request timed out; response_data is its default_response.",
    "request.cancelled": "The request was cancelled, or its loop deleted.",
}
HEADERS: Final = {
    "X-Service-Signature-256": "`sha256=` and the hexadecimal HMAC-SHA256 of the body's bytes, "
    "keyed with the account's webhook secret, or with that of the endpoint.",
    "webhook-id": "The event's id, the same on every attempt (Standard Webhooks).",
    "webhook-timestamp": "The attempt's Unix time in seconds.",
    "webhook-signature": "`v1,` and the base64 HMAC-SHA256 of id, timestamp and body, joined by "
    "dots. Several signatures are separated by spaces.",
}
TRACEPARENT: Final = (
    "The trace of the call that created or cancelled the request, if it had one, with a new parent "
    "id (W3C Trace Context)."
)
EVENT: Final[Schema] = object_of(
    {
        "event": one_of(SUMMARIES),
        "request_id": ID,
        "loop_id": ID,
        "status": STATUS,
        "response_data": component("Answer"),
        "response_by": nullable(ID),
        "completed_at": nullable(TIMESTAMP),
        "response_at": nullable(TIMESTAMP),
        "response_time_seconds": {"type": ["number", "null"]},
        "response_comment": {"type": ["string", "null"]},
        "created_at": TIMESTAMP,
        "timestamp": TIMESTAMP,
        "data": object_of(
            {
                "request": component(RequestDetail.__name__),
                "loop": object_of({"id": ID, "name": STRING}),
                "reviewer": nullable(
                    object_of(
                        {
                            "user_id": ID,
                            "name": STRING,
                            "email": STRING,
                            "verified": {"type": "boolean"},
                        }
                    )
                ),
            }
        ),
    }
)
EXAMPLE: Final[dict[str, Any]] = {
    "event": "request.completed",
    "request_id": DETAIL["id"],
    "loop_id": DETAIL["loop_id"],
    "status": "completed",
    "response_data": DETAIL["response_data"],
    "response_by": DETAIL["response_by"],
    "completed_at": DETAIL["response_at"],
    "response_at": DETAIL["response_at"],
    "response_time_seconds": DETAIL["response_time_seconds"],
    "response_comment": DETAIL["response_comment"],
    "created_at": DETAIL["created_at"],
    "timestamp": DETAIL["response_at"],
    "data": {
        "request": DETAIL,
        "loop": {"id": DETAIL["loop_id"], "name": LOOP["name"]},
        "reviewer": {
            "user_id": REVIEWER["id"],
            "name": REVIEWER["name"],
            "email": REVIEWER["email"],
            "verified": True,
        },
    },
}


def build_webhook(event: str) -> Schema:
    """Describes the POST that sends an event to a receiver."""
    content: dict[str, Any] = {"schema": component("Event")}
    if event == EXAMPLE["event"]:
        content["example"] = EXAMPLE
    return {
        "post": {
            "operationId": event,
            "tags": ["Events"],
            "summary": SUMMARIES[event],
            "description": "Sent at least once to each receiver: the request's callback_url, and "
            "the webhook endpoints that chose it. Sent again until the receiver responds with a "
            "2xx status within 15 s.",
            "security": [],
            "parameters": [
                {
                    "name": name,
                    "in": "header",
                    "required": True,
                    "description": text,
                    "schema": STRING,
                }
                for name, text in HEADERS.items()
            ]
            + [
                {
                    "name": "traceparent",
                    "in": "header",
                    "description": TRACEPARENT,
                    "schema": STRING,
                }
            ],
            "requestBody": {"required": True, "content": {"application/json": content}},
            "responses": {"2XX": {"description": "Received."}},
        }
    }


COMPONENTS: Final[dict[str, Schema]] = {"Event": EVENT}
WEBHOOKS: Final = {event: build_webhook(event) for event in SUMMARIES}
