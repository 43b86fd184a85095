"""Calls as a client makes them, and what all responses have in common."""

import re
from collections.abc import Callable
from typing import Any, Protocol

from django.http import HttpResponse
from django.test import Client

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
ID = re.compile(r"[0-9a-f]{24}")
NOWHERE = "0" * 24


class Caller(Protocol):
    """The client of one key, as `api(secret)` of the cast returns it."""

    def get(self, path: str, **headers: str) -> HttpResponse: ...
    def post(self, path: str, body: Any = None, **headers: str) -> HttpResponse: ...
    def put(self, path: str, body: Any = None, **headers: str) -> HttpResponse: ...
    def delete(self, path: str, **headers: str) -> HttpResponse: ...


Api = Callable[[str], Caller]
Ask = Callable[..., str]


def send(
    method: str,
    path: str,
    authorization: str | None = None,
    raw: bytes = b"",
    content_type: str = "application/json",
    **headers: str,
) -> HttpResponse:
    """One call with the bytes `raw` as its body, and with the header `authorization` as it is."""
    if authorization is not None:
        headers["Authorization"] = authorization
    client = Client(raise_request_exception=False)
    return client.generic(method, path, data=raw, content_type=content_type, headers=headers)  # type: ignore[return-value]


def body_of(response: HttpResponse) -> dict[str, Any]:
    """The envelope, after a look at what all envelopes share."""
    assert response["Content-Type"].split(";")[0] == "application/json", response["Content-Type"]
    body = json_of(response)
    assert set(body) == {"error", "msg", "data"}
    assert isinstance(body["error"], bool)
    assert isinstance(body["msg"], str)
    assert isinstance(body["data"], dict | str)
    check_quota_headers(response)
    return body


def check_quota_headers(response: HttpResponse) -> None:
    """The quota's headers are there and agree; those of the IETF's draft are structured fields."""
    names = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
    limit, remaining, reset = (int(response[name]) for name in names)
    assert response["RateLimit-Policy"] == f'"hour";q={limit};w=3600'
    left = re.fullmatch(r'"hour";r=(\d+);t=(\d+)', response["RateLimit"])
    assert left, response["RateLimit"]
    assert int(left[1]) == remaining
    assert 1 <= int(left[2]) <= 3600
    assert reset % 3600 == 0


def json_of(response: HttpResponse) -> dict[str, Any]:
    """The answer's JSON object."""
    body: dict[str, Any] = response.json()  # type: ignore[attr-defined]
    return body


def refused(
    response: HttpResponse, status: int, msg: str, data: str | dict[str, Any] | None = None
) -> None:
    """The answer is this failure and nothing else."""
    expected = {"error": True, "msg": msg, "data": {} if data is None else data}
    assert (response.status_code, body_of(response)) == (status, expected)


def refused_at(response: HttpResponse, msg: str, field: str) -> None:
    """The answer is a 400 `msg` whose detail names `field`."""
    body = body_of(response)
    assert (response.status_code, body["error"], body["msg"]) == (400, True, msg), body
    assert field in body["data"]


def granted(response: HttpResponse, msg: str, status: int = 200) -> dict[str, Any]:
    """The data of an answer that is this success."""
    body = body_of(response)
    assert (response.status_code, body["error"], body["msg"]) == (status, False, msg), body
    data: dict[str, Any] = body["data"]
    return data
