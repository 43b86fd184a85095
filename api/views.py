"""The envelope of the API: every body below /v1 is `{error, msg, data}`.

The base view fixes the order in which a call can fail: method, key, quota, account,
permission; then the view's own steps (id, existence, ownership, state, body).
"""

import json
import time
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, cast

import structlog
from django.conf import settings
from django.core.exceptions import TooManyFieldsSent
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from rest_framework.parsers import JSONParser
from rest_framework.renderers import JSONRenderer
from rest_framework.views import APIView

from web import strict_json
from api.errors import (
    ApiError,
    MethodNotAllowed,
    NotFound,
    RateLimited,
    ResourceDenied,
    ServerFailure,
    ServiceUnavailable,
    ValidationFailed,
)
from db.times import iso_from_unix, next_hour

log = structlog.get_logger(__name__)


class Quota(Protocol):
    """What is left of a key's hour. `reset` is the Unix time of the next one."""

    @property
    def limit(self) -> int: ...
    @property
    def used(self) -> int: ...
    @property
    def reset(self) -> int: ...
    @property
    def remaining(self) -> int: ...


class Account(Protocol):
    """As whom a call acts."""

    @property
    def is_active(self) -> bool: ...


class Caller(Protocol):
    """What a key may do, after its call was charged (or refused: `exhausted`)."""

    @property
    def permissions(self) -> list[str]: ...
    @property
    def quota(self) -> Quota: ...
    @property
    def exhausted(self) -> bool: ...


class Call(Protocol):
    """A call to the API once its key is read."""

    @property
    def http(self) -> HttpRequest: ...
    @property
    def user(self) -> Account: ...
    @property
    def auth(self) -> Caller: ...


class KeyReader(Protocol):
    """What DEFAULT_AUTHENTICATION_CLASSES names."""

    def admit(self, http: HttpRequest) -> Call:
        """The call, charged. Raises Unauthorized, RateLimited."""

    def peek(self, http: HttpRequest) -> Quota | None:
        """What is left of a key, without charging, and without complaint."""


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


def is_outage(error: Exception) -> bool:
    """Whether the database is out of reach, rather than the statement wrong."""
    if isinstance(error, InterfaceError):
        return True
    if not isinstance(error, OperationalError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    # 08 connection, 53 out of connections, 57P shut down or starting
    return state is None or state[:2] in ("08", "53") or state.startswith("57P")


class ApiView(APIView):
    """A path of the API.

    `permissions` and `failures` map a method to the permission it needs (None: any valid key)
    and to the sentence of its unexpected failure. Of the framework's view there remains what
    describes it: one kind of key, one kind of body and one renderer need no negotiation.
    """

    http_method_names = ["get", "post", "put", "delete", "head"]
    renderer_classes = [JSONRenderer]  # for the OpenAPI document, like the next
    parser_classes = [JSONParser]
    permissions: ClassVar[Mapping[str, str | None]] = {}
    failures: ClassVar[Mapping[str, type[ServerFailure]]] = {}
    open_to_inactive_accounts: ClassVar[bool] = False
    quota: Quota | None  # as the call leaves it; not there before the key is read

    def dispatch(self, http: HttpRequest, **ids: str) -> HttpResponse:  # type: ignore[override]
        try:
            call = self.admit(http)
            response: HttpResponse = getattr(self, self.operation(http).lower())(call, **ids)
        except Exception as exc:
            response = self.refuse(exc)
        if not hasattr(self, "quota"):  # 404 and 405 cost nothing, but say what is left
            self.quota = self.key_reader().peek(http)
        set_rate_headers(response, self.quota)
        return response

    def admit(self, http: HttpRequest) -> Call:
        """The call, once nothing that all calls have in common speaks against it."""
        if http.method not in self.allowed_methods:
            raise MethodNotAllowed
        reader = self.key_reader()
        self.quota = None
        call = reader.admit(http)
        self.quota = call.auth.quota
        if call.auth.exhausted:
            raise out_of_quota(self.quota)
        if not call.user.is_active and not self.open_to_inactive_accounts:
            raise ResourceDenied
        needed = self.permissions[self.operation(http)]
        if needed is not None and needed not in call.auth.permissions:
            raise ResourceDenied
        return call

    def key_reader(self) -> KeyReader:
        return cast(KeyReader, self.authentication_classes[0]())

    def operation(self, http: HttpRequest) -> str:
        """The method, HEAD being a GET without its body."""
        method = str(http.method)
        return "GET" if method == "HEAD" else method

    @property
    def allowed_methods(self) -> list[str]:
        return [name.upper() for name in self.http_method_names if hasattr(self, name)]

    def body(self, call: Call, *, empty_is_object: bool = False) -> dict[str, Any]:
        """The call's JSON object. Raises InvalidBody."""
        return strict_json.read_object(call.http, empty_is_object=empty_is_object)

    def refuse(self, exc: Exception) -> HttpResponse:
        """The answer to whatever went wrong."""
        error = exc if isinstance(exc, ApiError) else self.unexpected(exc)
        response = refusal(error)
        if isinstance(error, MethodNotAllowed):
            response["Allow"] = ", ".join(self.allowed_methods)
        if isinstance(error, RateLimited):
            response["Retry-After"] = str(error.retry_after)
        return response

    def unexpected(self, exc: Exception) -> ApiError:
        """The sentence for what nobody foresaw; the log keeps the truth."""
        if isinstance(exc, DatabaseError | InterfaceError) and is_outage(exc):
            log.error("api.database_unreachable", error=str(exc))
            return ServiceUnavailable()
        if isinstance(exc, TooManyFieldsSent):  # Django's own limit, on query strings
            most = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
            return ValidationFailed(f"query must have at most {most} parameters")
        log.error("api.failed", view=type(self).__name__, exc_info=exc)
        return self.failures.get(self.operation(self.request), ServerFailure)()


def out_of_quota(quota: Quota) -> RateLimited:
    """The 429 of a call whose hour is used up."""
    detail = {
        "usage_count": quota.used,
        "usage_limit": quota.limit,
        "remaining": 0,
        "reset_at": iso_from_unix(quota.reset),
    }
    return RateLimited(detail, retry_after=max(1, quota.reset - int(time.time())))


class UnknownPath(ApiView):
    """Everything below /v1 that is no path of the API."""

    schema = None

    def admit(self, http: HttpRequest) -> Call:
        raise NotFound
