"""Builds the responses of the API: every body below /v1 is `{error, msg, data}`."""

import json
import time
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from accounts.quota import Quota
from api.errors import ApiError, RateLimited
from db.times import next_hour
from reviews import representation

WAITING = "/docs/api.md#which-way-to-wait"
MCP_PATHS = ("/mcp", "/mcp/")
encode_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def dumps(value: Any) -> bytes:
    """Encodes a value as the JSON bytes of a body."""
    return encode_json(value).encode()


def build_envelope(
    msg: str, data: str | Mapping[str, Any], *, error: bool = False
) -> dict[str, Any]:
    """Builds the body of a response."""
    return {"error": error, "msg": msg, "data": data}


# Responses must not be cached, and browsers must not show them as a page.
HEADERS = {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
}


def build_response(body: bytes, *, status: int = 200) -> HttpResponse:
    """Builds a JSON response; every response below /v1 comes from here."""
    headers = {**HEADERS, "Content-Length": str(len(body))}
    return HttpResponse(body, status=status, headers=headers)


def build_stream(text: bytes) -> HttpResponse:
    """Builds a response, or a part of one, with server-sent events; proxies do not buffer it."""
    headers = {**HEADERS, "Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}
    return HttpResponse(text, headers=headers)


def ok(msg: str, data: Mapping[str, Any], *, status: int = 200) -> HttpResponse:
    """Builds a success response."""
    return build_response(dumps(build_envelope(msg, data)), status=status)


def ok_rows(msg: str, data: Mapping[str, Any]) -> HttpResponse:
    """Builds a success response with requests of `reviews.queries`."""
    return build_response(representation.encode(build_envelope(msg, data)))


def set_rate_headers(
    response: HttpResponse, quota: Quota | None, *, setting: str = "API_HOURLY_LIMIT"
) -> None:
    """Sets the headers of the quota; without a valid key, the default limit with 0 remaining.

    `setting` is the name of that limit.

    RateLimit and RateLimit-Policy are those of draft-ietf-httpapi-ratelimit-headers.
    """
    now = time.time()
    limit = quota.limit if quota else getattr(settings, setting)
    remaining = quota.remaining if quota else 0
    reset = quota.reset if quota else next_hour(now)
    response["X-RateLimit-Limit"] = str(limit)
    response["X-RateLimit-Remaining"] = str(remaining)
    response["X-RateLimit-Reset"] = str(reset)
    response["RateLimit-Policy"] = f'"hour";q={limit};w=3600'
    response["RateLimit"] = f'"hour";r={remaining};t={count_seconds(reset, now)}'


def count_seconds(reset: int, now: float) -> int:
    """Counts the seconds until the next hour, at least one; Retry-After is the same number."""
    return max(1, reset - int(now))


def link_help(response: HttpResponse) -> None:
    """Adds a Link header to the help on waiting without polling."""
    response["Link"] = f'<{settings.SITE_URL}{WAITING}>; rel="help"'


def build_error_outside_views(error: ApiError) -> HttpResponse:
    """Builds the response to an error that no view of the API handled."""
    response = build_error_response(error)
    set_rate_headers(response, None)
    return response


def build_error_response(error: ApiError) -> HttpResponse:
    """Builds the body and the status of an error."""
    body = build_envelope(error.sentence, error.detail, error=True)
    response = build_response(dumps(body), status=error.status)
    if error.retry_after is not None:
        response["Retry-After"] = str(error.retry_after)
    if isinstance(error, RateLimited):
        link_help(response)
    return response


def is_for_programs(request: HttpRequest) -> bool:
    """Tells whether only programs call the path; such a call needs no session and no CSRF check."""
    return is_api(request) or request.path_info in MCP_PATHS


def is_api(request: HttpRequest) -> bool:
    """Tells whether the path is below /v1, where every response has the envelope."""
    return request.path_info == "/v1" or request.path_info.startswith("/v1/")
