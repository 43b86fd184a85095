"""The OpenAPI descriptions of webhook endpoints."""

from typing import Any, Final

from api.errors import (
    EndpointNotFound,
    InvalidBody,
    InvalidEndpointId,
    NothingToUpdate,
    RotationUnderWay,
    TooManyEndpoints,
    ValidationFailed,
)
from api.openapi.operations import COUNT, ID, Body, Operation, Operations, Schema, one_of
from api.serializers.webhook_endpoints import (
    MAX_LOOPS,
    EndpointChanges,
    EndpointInput,
    EndpointSerializer,
    RotateInput,
)
from api.webhook_endpoints import (
    WebhookEndpointDetail,
    WebhookEndpoints,
    WebhookEndpointSecret,
)
from reviews.lifecycle.states import CHOICES

_EVENTS: Final[Schema] = {"type": "array", "items": one_of(CHOICES), "minItems": 1}
_LOOPS: Final[Schema] = {
    "type": "array",
    "items": ID,
    "maxItems": MAX_LOOPS,
    "description": "Only events of these loops; [] for all loops, also later ones.",
}
FIELDS: Final[dict[tuple[type, str], Schema]] = {
    (each, name): schema
    for each in (EndpointInput, EndpointChanges, EndpointSerializer)
    for name, schema in (("events", _EVENTS), ("loop_ids", _LOOPS))
}
ENDPOINT_PATH: Final = {"endpoint_id": "The webhook endpoint's id."}
SECRET: Final[Schema] = {"type": "string", "pattern": "^whsec_"}
ENDPOINT: Final[dict[str, Any]] = {
    "id": "019df2b0c2d3e4f5a6b7cf12",
    "url": "https://router.example.com/review-loop",
    "events": ["request.created", "request.completed"],
    "loop_ids": ["019df2a2b3c4d5e6f7a8b9c0"],
    "enabled": True,
    "secret_changed_at": "2026-05-04T11:00:00.000Z",
    "created_at": "2026-05-04T11:00:00.000Z",
    "updated_at": "2026-05-04T11:00:00.000Z",
}
_ISSUED: Final = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
_GONE: Final = (InvalidEndpointId, EndpointNotFound)

OPERATIONS: Operations = {
    (WebhookEndpoints, "GET"): Operation(
        name="listWebhookEndpoints",
        tag="Events",
        summary="List your webhook endpoints",
        description="The endpoints of your account, the oldest first.",
        message="Webhook endpoints retrieved successfully",
        data={"webhook_endpoints": [EndpointSerializer], "count": COUNT},
        example={"webhook_endpoints": [ENDPOINT], "count": 1},
    ),
    (WebhookEndpoints, "POST"): Operation(
        name="createWebhookEndpoint",
        tag="Events",
        summary="Create a webhook endpoint",
        description="From now on the chosen events of all requests in the chosen loops are posted "
        "to the URL, beside the `callback_url` of a request. The secret signs what is sent there; "
        "it is shown only in this response. An account has at most 5 endpoints.",
        message="Webhook endpoint created successfully",
        status=201,
        body=Body(
            EndpointInput,
            {"router": {"url": ENDPOINT["url"], "events": ENDPOINT["events"]}},
        ),
        data={"webhook_endpoint": EndpointSerializer, "secret": SECRET},
        example={"webhook_endpoint": {**ENDPOINT, "loop_ids": []}, "secret": _ISSUED},
        errors=(TooManyEndpoints, ValidationFailed, InvalidBody),
        links={
            name: {"endpoint_id": "$response.body#/data/webhook_endpoint/id"}
            for name in (
                "readWebhookEndpoint",
                "updateWebhookEndpoint",
                "deleteWebhookEndpoint",
                "rotateWebhookEndpointSecret",
            )
        },
    ),
    (WebhookEndpointDetail, "GET"): Operation(
        name="readWebhookEndpoint",
        tag="Events",
        summary="Read a webhook endpoint",
        description="Only the account that owns it may do this. Its secret is not in the response.",
        message="Webhook endpoint retrieved successfully",
        paths=ENDPOINT_PATH,
        data={"webhook_endpoint": EndpointSerializer},
        example={"webhook_endpoint": ENDPOINT},
        errors=_GONE,
    ),
    (WebhookEndpointDetail, "PUT"): Operation(
        name="updateWebhookEndpoint",
        tag="Events",
        summary="Change, enable or disable a webhook endpoint",
        description="Only the supplied fields change. Nothing is sent to an endpoint that is off: "
        "no attempt begins once this call has returned, and what waits for it is dead.",
        message="Webhook endpoint updated successfully",
        paths=ENDPOINT_PATH,
        body=Body(EndpointChanges, {"off": {"enabled": False}}),
        data={"webhook_endpoint": EndpointSerializer},
        example={"webhook_endpoint": {**ENDPOINT, "enabled": False}},
        errors=(NothingToUpdate, ValidationFailed, InvalidBody, *_GONE),
    ),
    (WebhookEndpointDetail, "DELETE"): Operation(
        name="deleteWebhookEndpoint",
        tag="Events",
        summary="Delete a webhook endpoint",
        description="No attempt to deliver to it begins once this call has returned.",
        message="Webhook endpoint deleted successfully",
        paths=ENDPOINT_PATH,
        data={"webhook_endpoint_id": ID},
        example={"webhook_endpoint_id": ENDPOINT["id"]},
        errors=_GONE,
    ),
    (WebhookEndpointSecret, "POST"): Operation(
        name="rotateWebhookEndpointSecret",
        tag="Events",
        summary="Rotate the secret of a webhook endpoint",
        description="The new secret is shown only in this response. The old one stays valid for 24 "
        "hours: until then what is sent carries a signature of each.",
        message="Webhook secret rotated successfully",
        paths=ENDPOINT_PATH,
        body=Body(RotateInput, {"rotate": {}}),
        data={"webhook_endpoint": EndpointSerializer, "secret": SECRET},
        example={"webhook_endpoint": ENDPOINT, "secret": _ISSUED},
        errors=(RotationUnderWay, ValidationFailed, InvalidBody, *_GONE),
    ),
}
