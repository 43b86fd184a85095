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
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import JSONParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config import strict_json
from config.errors import (
    ApiError,
    MethodNotAllowed,
    NotFound,
    RateLimited,
    ResourceDenied,
    ServerFailure,
    ServiceUnavailable,
    ValidationFailed,
)
from config.times import iso_from_unix, next_hour

log = structlog.get_logger(__name__)


class Quota(Protocol):
    """What is left of a key's hour. `reset` is the Unix time of the next one."""

    limit: int
    used: int
    reset: int

    @property
    def remaining(self) -> int: ...


class Caller(Protocol):
    """What an authenticated call knows about itself (`request.auth`)."""

    permissions: list[str]
    quota: Quota
    exhausted: bool


class EnvelopeRenderer(BaseRenderer):
    """JSON, whatever the client says it accepts."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return dumps(data)


class AlwaysJson(BaseContentNegotiation):
    """`Accept` is ignored, so nothing is ever 406."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[Any, str]:
        return renderers[0], renderers[0].media_type


def dumps(value: Any) -> bytes:
    """The JSON bytes of a body."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def envelope(msg: str, data: str | Mapping[str, Any], *, error: bool = False) -> dict[str, Any]:
    """The three keys of every body."""
    return {"error": error, "msg": msg, "data": data}


def ok(msg: str, data: Mapping[str, Any], *, status: int = 200) -> Response:
    """A success."""
    return Response(envelope(msg, data), status=status)


def set_rate_headers(response: HttpResponse, quota: Quota | None) -> None:
    """X-RateLimit-*; without a valid key the limit, nothing remaining, the next reset."""
    limit = quota.limit if quota else settings.API_HOURLY_LIMIT
    response["X-RateLimit-Limit"] = str(limit)
    response["X-RateLimit-Remaining"] = str(quota.remaining if quota else 0)
    response["X-RateLimit-Reset"] = str(quota.reset if quota else next_hour(time.time()))


def failure(error: ApiError) -> HttpResponse:
    """The answer to an error that arose outside every view of the API."""
    response = HttpResponse(
        dumps(envelope(error.sentence, error.detail, error=True)),
        status=error.status,
        content_type="application/json",
    )
    set_rate_headers(response, None)
    return response


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
    and to the sentence of its unexpected failure.
    """

    http_method_names = ["get", "post", "put", "delete", "head"]
    content_negotiation_class = AlwaysJson
    renderer_classes = [EnvelopeRenderer]
    parser_classes = [JSONParser]  # for the OpenAPI document; `body` does the reading
    permissions: ClassVar[Mapping[str, str | None]] = {}
    failures: ClassVar[Mapping[str, type[ServerFailure]]] = {}
    open_to_inactive_accounts: ClassVar[bool] = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        negotiator = self.get_content_negotiator()
        request.accepted_renderer, request.accepted_media_type = negotiator.select_renderer(
            request, self.get_renderers()
        )
        if request.method not in self.allowed_methods:
            raise MethodNotAllowed
        user, caller = request.user, cast(Caller, request.auth)
        if caller.exhausted:
            raise out_of_quota(caller.quota)
        if not user.is_active and not self.open_to_inactive_accounts:
            raise ResourceDenied
        needed = self.permissions[self.operation(request)]
        if needed is not None and needed not in caller.permissions:
            raise ResourceDenied

    def operation(self, request: Request) -> str:
        """The method, HEAD being a GET without its body."""
        method = str(request.method)
        return "GET" if method == "HEAD" else method

    @property
    def default_response_headers(self) -> dict[str, str]:
        return {}

    @property
    def allowed_methods(self) -> list[str]:
        return [name.upper() for name in self.http_method_names if hasattr(self, name)]

    def body(self, request: Request, *, empty_is_object: bool = False) -> dict[str, Any]:
        """The call's JSON object. Raises InvalidBody."""
        return strict_json.read_object(request._request, empty_is_object=empty_is_object)

    def handle_exception(self, exc: Exception) -> Response:
        error = exc if isinstance(exc, ApiError) else self.unexpected(exc)
        response = Response(envelope(error.sentence, error.detail, error=True), status=error.status)
        if isinstance(error, MethodNotAllowed):
            response["Allow"] = ", ".join(self.allowed_methods)
        if isinstance(error, RateLimited):
            response["Retry-After"] = str(error.retry_after)
        response.exception = True
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

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        final = super().finalize_response(request, response, *args, **kwargs)
        set_rate_headers(final, self.quota(request))
        final["Cache-Control"] = "no-store"
        return final

    def quota(self, request: Request) -> Quota | None:
        """The quota as this call left it.

        A call that failed before its key was read (404, 405) costs nothing, but still says
        what is left.
        """
        if not hasattr(request._request, "quota"):
            for authenticator in self.get_authenticators():
                authenticator.peek(request)  # type: ignore[attr-defined]
        return cast("Quota | None", getattr(request._request, "quota", None))


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

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        request.accepted_renderer = EnvelopeRenderer()
        request.accepted_media_type = EnvelopeRenderer.media_type
        raise NotFound
