"""The envelope of the API: every body below /v1 is `{error, msg, data}`."""

import json
import time
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from accounts.quota import Quota
from api.errors import ApiError
from db.times import next_hour

as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def dumps(value: Any) -> bytes:
    """The JSON bytes of a body."""
    return as_json(value).encode()


def envelope(msg: str, data: str | Mapping[str, Any], *, error: bool = False) -> dict[str, Any]:
    """The three keys of every body."""
    return {"error": error, "msg": msg, "data": data}


# Nobody keeps an answer, and no browser makes a page of one.
_HEADERS = {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
}


def answer(body: bytes, *, status: int = 200) -> HttpResponse:
    """A response with these bytes of JSON: the only kind that there is below /v1."""
    headers = {**_HEADERS, "Content-Length": str(len(body))}
    return HttpResponse(body, status=status, headers=headers)


def ok(msg: str, data: Mapping[str, Any], *, status: int = 200) -> HttpResponse:
    """A success."""
    return answer(dumps(envelope(msg, data)), status=status)


def ok_verbatim(msg: str, data: Mapping[str, str]) -> HttpResponse:
    """A success; the values of `data` are JSON already."""
    fields = ",".join(f"{as_json(name)}:{value}" for name, value in data.items())
    return answer(f'{{"error":false,"msg":{as_json(msg)},"data":{{{fields}}}}}'.encode())


def set_rate_headers(response: HttpResponse, quota: Quota | None) -> None:
    """X-RateLimit-*; without a valid key the limit, nothing remaining, the next reset."""
    limit = quota.limit if quota else settings.API_HOURLY_LIMIT
    response["X-RateLimit-Limit"] = str(limit)
    response["X-RateLimit-Remaining"] = str(quota.remaining if quota else 0)
    response["X-RateLimit-Reset"] = str(quota.reset if quota else next_hour(time.time()))


def failure(error: ApiError) -> HttpResponse:
    """The answer to an error that arose outside every view of the API."""
    response = refusal(error)
    set_rate_headers(response, None)
    return response


def refusal(error: ApiError) -> HttpResponse:
    """The body and the status of an error."""
    return answer(dumps(envelope(error.sentence, error.detail, error=True)), status=error.status)


def is_api(request: HttpRequest) -> bool:
    """Whether nothing but the envelope may answer this path."""
    return request.path_info == "/v1" or request.path_info.startswith("/v1/")
