"""The answers of an operation in the OpenAPI document: its success, and every failure."""

from collections.abc import Iterable, Mapping
from typing import Any

from api.errors import (
    ApiError,
    InvalidDefaultResponse,
    InvalidResponseConfiguration,
    MethodNotAllowed,
    NotFound,
    RateLimited,
    ServiceUnavailable,
    Unauthorized,
    ValidationFailed,
)
from api.openapi.operations import (
    COUNT,
    INTEGER,
    NO_DETAIL,
    STRING,
    TIMESTAMP,
    Schema,
    component,
    object_of,
    one_of,
)

# Their `data` is a sentence that names the field; the others have none.
DETAILED: dict[type[ApiError], str] = {
    ValidationFailed: "priority must be one of: low, medium, high, critical",
    InvalidResponseConfiguration: "options array required for select response type",
    InvalidDefaultResponse: "default_response must match one of the configured options",
}
DESCRIPTIONS = {
    400: "The call, or the state of what it is about, does not allow it.",
    401: "The key is missing, malformed, unknown or not active.",
    403: "The key lacks the permission, or its owner the right.",
    404: "There is no such thing.",
    405: "The path has no such method; `Allow` lists those it has.",
    429: "The key's hour is used up. This call costs nothing.",
    500: "The service failed. Try again later, waiting longer each time.",
    503: "The service cannot reach its database. Try again shortly.",
}
COMMON: dict[str, list[type[ApiError]]] = {
    "Unauthorized": [*Unauthorized.__subclasses__()],
    "RateLimited": [RateLimited],
    "Unavailable": [ServiceUnavailable],
}
# What answers where there is no operation.
OFF_THE_MAP: dict[str, list[type[ApiError]]] = {
    "UnknownPath": [NotFound],
    "MethodNotAllowed": [MethodNotAllowed],
}
RATE_HEADERS = {
    "X-RateLimit-Limit": ("Calls that the key may make in an hour.", COUNT),
    "X-RateLimit-Remaining": ("What is left of them.", COUNT),
    "X-RateLimit-Reset": ("When the next hour begins, as a Unix time in seconds.", INTEGER),
}
OTHER_HEADERS = {
    "Retry-After": ("Seconds to wait.", {"type": "integer", "minimum": 1}),
    "Allow": ("The methods of the path.", STRING),
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


def components() -> dict[str, Any]:
    """The headers, and the answers that every operation shares."""
    headers = {
        name: {"description": text, "required": True, "schema": schema}
        for name, (text, schema) in (RATE_HEADERS | OTHER_HEADERS).items()
    }
    answers = {name: failure(errors) for name, errors in (COMMON | OFF_THE_MAP).items()}
    return {"headers": headers, "responses": answers}


def common() -> dict[str, Schema]:
    """References to the failures that every operation can answer with, by status."""
    return {str(errors[0].status): component(name, "responses") for name, errors in COMMON.items()}


def headers(status: int) -> dict[str, Schema]:
    """The headers of an answer with this status."""
    names = [*RATE_HEADERS]
    names += {429: ["Retry-After"], 405: ["Allow"]}.get(status, [])
    return {name: component(name, "headers") for name in names}


def success(status: int, message: str, data: Schema, example: Mapping[str, Any]) -> Schema:
    """The answer of an operation that did what it should."""
    envelope = object_of({"error": {"const": False}, "msg": {"const": message}, "data": data})
    body = {"error": False, "msg": message, "data": example}
    return {
        "description": message,
        "headers": headers(status),
        "content": {"application/json": {"schema": envelope, "example": body}},
    }


def failure(errors: Iterable[type[ApiError]]) -> Schema:
    """The answer with one status that these errors share, each with an example."""
    errors = list(errors)
    status = errors[0].status
    variants = [
        object_of(
            {
                "error": {"const": True},
                "msg": one_of(error.sentence for error in group),
                "data": detail_of(group[0]),
            }
        )
        for group in by_detail(errors)
    ]
    return {
        "description": DESCRIPTIONS[status],
        "headers": headers(status),
        "content": {
            "application/json": {
                "schema": variants[0] if len(variants) == 1 else {"oneOf": variants},
                "examples": {error.__name__: {"value": example(error)} for error in errors},
            }
        },
    }


def by_detail(errors: Iterable[type[ApiError]]) -> list[list[type[ApiError]]]:
    """The errors without detail, and those with a sentence of detail; empty ones left out."""
    plain: list[type[ApiError]] = []
    detailed: list[type[ApiError]] = []
    for error in errors:
        (detailed if error in DETAILED else plain).append(error)
    return [group for group in (plain, detailed) if group]


def detail_of(error: type[ApiError]) -> Schema:
    """The shape of the error's `data`."""
    if error is RateLimited:
        return QUOTA_DETAIL
    return STRING if error in DETAILED else NO_DETAIL


def example(error: type[ApiError]) -> dict[str, Any]:
    """The body of such a failure."""
    data: Any = QUOTA_EXAMPLE if error is RateLimited else DETAILED.get(error, {})
    return {"error": True, "msg": error.sentence, "data": data}
