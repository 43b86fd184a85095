"""OpenAPI descriptions of responses: the success of an operation, and every error."""

from collections.abc import Iterable, Mapping
from typing import Any

from api.authentication import API_KEYS, REVIEW_TOKENS, Credentials
from api.errors import (
    AlreadyRedeemed,
    AnswerRefused,
    ApiError,
    CallUnderWay,
    DifferentArguments,
    DifferentName,
    ExportUnderWay,
    GrantRefused,
    IdempotencyKeyReused,
    InvalidBody,
    InvalidDefaultResponse,
    InvalidResponseConfiguration,
    NoReceipt,
    RateLimited,
    ReceiptExpired,
    ServiceUnavailable,
    StateConflict,
    ValidationFailed,
)
from api.openapi.operations import (
    COUNT,
    ID,
    INTEGER,
    NO_DETAIL,
    STRING,
    TIMESTAMP,
    Schema,
    component,
    nullable,
    object_of,
    one_of,
)

# Errors whose `data` is a sentence that names the field, each with an example.
DETAILED: dict[type[ApiError], str] = {
    InvalidBody: "body must be JSON: Expecting value at line 1, column 9",
    ValidationFailed: "priority must be one of: low, medium, high, critical",
    InvalidResponseConfiguration: "options array required for select response type",
    InvalidDefaultResponse: "default_response must match one of the configured options",
    NoReceipt: "the request is still open",
    AnswerRefused: "Choose one of the options",
    GrantRefused: "A call of high risk, or a critical one, is approved each time",
}
DESCRIPTIONS = {
    400: "The call is not valid, or the loop or request is in a state that does not allow it.",
    401: "The key is missing, malformed, unknown or not active.",
    403: "The key does not have the permission, or its owner does not have access.",
    404: "The path, loop, request or member does not exist.",
    409: "The first call with this Idempotency-Key is still running.",
    422: "This Idempotency-Key was already used for another call.",
    429: "The key's quota for this hour is used up. This call is not counted. Polling is never "
    "needed: `wait`, webhooks and `/v1/api/events` tell the answer as soon as it is there.",
    500: "The service failed. Try again later, waiting longer each time.",
    503: "The service cannot reach its database. Try again shortly.",
}
_RECEIPT_CONFLICT = (
    "The receipt was redeemed before, or covers another call; or, with Retry-After, the first "
    "call with this Idempotency-Key is still running."
)
_STATE_CONFLICT = (
    "The request has ended, or somebody else has claimed it; or, with Retry-After, the first call "
    "with this Idempotency-Key is still running."
)
CONFLICTS: dict[type[ApiError], str] = {
    AlreadyRedeemed: _RECEIPT_CONFLICT,
    ExportUnderWay: "Another export of the account is running.",
    **dict.fromkeys(StateConflict.__subclasses__(), _STATE_CONFLICT),
}
COMMON_ERRORS: dict[str, list[type[ApiError]]] = {
    "Unauthorized": [*API_KEYS.errors],
    "ReviewUnauthorized": [*REVIEW_TOKENS.errors],
    "RateLimited": [RateLimited],
    "Unavailable": [ServiceUnavailable],
}
RATE_HEADERS = {
    "X-RateLimit-Limit": ("How many calls the key may make in an hour.", COUNT),
    "X-RateLimit-Remaining": ("How many calls remain in this hour.", COUNT),
    "X-RateLimit-Reset": ("When the next hour begins, as a Unix time in seconds.", INTEGER),
    "RateLimit-Policy": (
        'The quota of the key: `"hour";q=100;w=3600` is 100 calls an hour '
        "(draft-ietf-httpapi-ratelimit-headers).",
        STRING,
    ),
    "RateLimit": (
        'What is left of it: `"hour";r=99;t=1234` is 99 calls, for 1,234 seconds.',
        STRING,
    ),
}
OTHER_HEADERS = {
    "Link": ("Where to read how to wait for an answer without polling.", STRING),
    "Retry-After": ("Seconds to wait.", {"type": "integer", "minimum": 1}),
}
QUOTA_DETAIL = object_of(
    {"usage_count": COUNT, "usage_limit": COUNT, "remaining": COUNT, "reset_at": TIMESTAMP}
)
QUOTA_EXAMPLE = {
    "usage_count": 100,
    "usage_limit": 100,
    "remaining": 0,
    "reset_at": "2026-05-04T11:00:00.000Z",
}


# Errors whose `data` is an object, with its schema and an example.
OBJECTS: dict[type[ApiError], tuple[Schema, dict[str, Any]]] = {
    RateLimited: (QUOTA_DETAIL, QUOTA_EXAMPLE),
    AlreadyRedeemed: (
        object_of({"redeemed_at": TIMESTAMP}),
        {"redeemed_at": "2026-05-04T10:42:06.100Z"},
    ),
    DifferentArguments: (object_of({"path": STRING}), {"path": "arguments.amount"}),
    DifferentName: (object_of({"path": STRING}), {"path": "name"}),
    ReceiptExpired: (
        object_of({"expires_at": TIMESTAMP}),
        {"expires_at": "2026-05-05T10:42:05.000Z"},
    ),
}

STATE_DETAIL = object_of({"status": component("Status"), "claimed_by": nullable(ID)})
STATE_EXAMPLE: dict[str, Any] = {"status": "completed", "claimed_by": None}
TO_BE_REPEATED = (CallUnderWay.status, RateLimited.status, ServiceUnavailable.status)
IDEMPOTENCY_ERRORS: list[type[ApiError]] = [CallUnderWay, IdempotencyKeyReused, ValidationFailed]
IDEMPOTENCY_KEY: Schema = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "Makes it safe to send the call again: for 24 hours the same call with the same "
    "key gets the first response, with `Idempotent-Replayed: true`, and costs nothing.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
}
TRACEPARENT: Schema = {
    "name": "traceparent",
    "in": "header",
    "description": "The trace that the call belongs to (W3C Trace Context). The webhooks of the "
    "request continue it. A value that is not valid is ignored.",
    "schema": STRING,
}


def build_components() -> dict[str, Any]:
    """Builds the headers and responses that operations share."""
    headers = {
        name: {"description": text, "required": True, "schema": schema}
        for name, (text, schema) in (RATE_HEADERS | OTHER_HEADERS).items()
    }
    responses = {
        name: build_failure(errors, schema=component(get_schema_name(name)))
        for name, errors in COMMON_ERRORS.items()
    }
    schemas = {
        get_schema_name(name): build_error_schema(errors) for name, errors in COMMON_ERRORS.items()
    }
    return {"headers": headers, "responses": responses, "schemas": schemas}


def get_schema_name(name: str) -> str:
    """Returns the component with the body of a common error, such as UnauthorizedError."""
    return f"{name}Error"


def refer_to_common(credentials: Credentials) -> dict[str, Schema]:
    """Builds references to the error responses of every operation with these credentials."""
    other = "Unauthorized" if credentials is REVIEW_TOKENS else "ReviewUnauthorized"
    return {
        str(errors[0].status): component(name, "responses")
        for name, errors in COMMON_ERRORS.items()
        if name != other
    }


def list_headers(status: int, more: Iterable[str] = ()) -> dict[str, Schema]:
    """Lists the headers of a response with this status; `more` are particular to it."""
    names = [*RATE_HEADERS, *more]
    names += ["Retry-After"] if status in TO_BE_REPEATED else []
    names += ["Link"] if status == RateLimited.status else []
    return {name: component(name, "headers") for name in names}


def build_success(
    status: int,
    message: str,
    data: Schema,
    example: Mapping[str, Any],
    headers: Iterable[str] = (),
) -> Schema:
    """Describes the success response of an operation; `headers` are particular to it."""
    envelope = object_of({"error": {"const": False}, "msg": {"const": message}, "data": data})
    body = {"error": False, "msg": message, "data": example}
    return {
        "description": message,
        "headers": list_headers(status, headers),
        "content": {"application/json": {"schema": envelope, "example": body}},
    }


def build_stream(description: str, example: str, content_type: str) -> Schema:
    """Describes a response that comes in parts, such as server-sent events."""
    return {
        "description": description,
        "headers": list_headers(200),
        "content": {content_type: {"schema": STRING, "example": example}},
    }


def build_failure(errors: Iterable[type[ApiError]], schema: Schema | None = None) -> Schema:
    """Describes one response for errors of the same status, with an example of each.

    `schema` replaces the schema of the body.
    """
    errors = list(errors)
    status = errors[0].status
    headers = list_headers(status)
    if status in TO_BE_REPEATED and not all(error.retry_after for error in errors):
        text, header = OTHER_HEADERS["Retry-After"]
        headers["Retry-After"] = {"description": text, "schema": header}  # not required
    conflict = next((CONFLICTS[error] for error in errors if error in CONFLICTS), None)
    return {
        "description": conflict or DESCRIPTIONS[status],
        "headers": headers,
        "content": {
            "application/json": {
                "schema": schema or build_error_schema(errors),
                "examples": {error.__name__: {"value": build_example(error)} for error in errors},
            }
        },
    }


def build_error_schema(errors: Iterable[type[ApiError]]) -> Schema:
    """Builds the schema of a body for these errors."""
    variants = [
        object_of(
            {
                "error": {"const": True},
                "msg": one_of(error.sentence for error in group),
                "data": get_detail_schema(group[0]),
            }
        )
        for group in group_by_detail(errors)
    ]
    return variants[0] if len(variants) == 1 else {"oneOf": variants}


def group_by_detail(errors: Iterable[type[ApiError]]) -> list[list[type[ApiError]]]:
    """Groups the errors by what they have in `data`; those with a sentence are the last."""
    groups: dict[str, list[type[ApiError]]] = {}
    for error in errors:
        groups.setdefault(str(get_detail_schema(error)), []).append(error)
    return sorted(groups.values(), key=lambda group: group[0] in DETAILED)


def get_detail_schema(error: type[ApiError]) -> Schema:
    """Returns the schema of the error's `data`."""
    if issubclass(error, StateConflict):
        return STATE_DETAIL
    if error in OBJECTS:
        return OBJECTS[error][0]
    return STRING if error in DETAILED else NO_DETAIL


def build_example(error: type[ApiError]) -> dict[str, Any]:
    """Builds an example body of the error."""
    if issubclass(error, StateConflict):
        return {"error": True, "msg": error.sentence, "data": STATE_EXAMPLE}
    data: Any = OBJECTS[error][1] if error in OBJECTS else DETAILED.get(error, {})
    return {"error": True, "msg": error.sentence, "data": data}
