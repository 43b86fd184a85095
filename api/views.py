"""The base view of the API.

It fixes the order in which a call can fail: method, key, quota, account, permission; then the
view's own steps (id, existence, ownership, state, body).
"""

import time
from collections.abc import Mapping
from typing import Any, ClassVar

import structlog
from django.conf import settings
from django.core.exceptions import TooManyFieldsSent
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from rest_framework.parsers import JSONParser
from rest_framework.renderers import JSONRenderer
from rest_framework.views import APIView

from accounts.quota import Quota
from api.authentication import Call, KeyAuthentication
from api.envelope import refusal, set_rate_headers
from api.errors import (
    ApiError,
    InvalidBody,
    MethodNotAllowed,
    NotFound,
    RateLimited,
    ResourceDenied,
    ServerFailure,
    ServiceUnavailable,
    ValidationFailed,
)
from db.outages import is_outage
from db.times import iso_from_unix
from web import strict_json

log = structlog.get_logger(__name__)

KEY_AUTHENTICATION = KeyAuthentication()


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

    def dispatch(self, request: HttpRequest, **ids: str) -> HttpResponse:
        try:
            call = self.admit(request)
            response: HttpResponse = getattr(self, self.operation(request).lower())(call, **ids)
        except Exception as exc:
            response = self.refuse(exc)
        if not hasattr(self, "quota"):  # 404 and 405 cost nothing, but say what is left
            self.quota = KEY_AUTHENTICATION.peek(request)
        set_rate_headers(response, self.quota)
        return response

    def admit(self, request: HttpRequest) -> Call:
        """The call, once nothing that all calls have in common speaks against it."""
        if request.method not in self.allowed_methods:
            raise MethodNotAllowed
        self.quota = None
        call = KEY_AUTHENTICATION.admit(request)
        self.quota = call.auth.quota
        if call.auth.exhausted:
            raise out_of_quota(self.quota)
        if not call.user.is_active and not self.open_to_inactive_accounts:
            raise ResourceDenied
        needed = self.permissions[self.operation(request)]
        if needed is not None and needed not in call.auth.permissions:
            raise ResourceDenied
        return call

    def operation(self, request: HttpRequest) -> str:
        """The method, HEAD being a GET without its body."""
        method = str(request.method)
        return "GET" if method == "HEAD" else method

    @property
    def allowed_methods(self) -> list[str]:
        return [name.upper() for name in self.http_method_names if hasattr(self, name)]

    def body(self, call: Call, *, empty_is_object: bool = False) -> dict[str, Any]:
        """The call's JSON object. Raises InvalidBody."""
        try:
            return strict_json.read_object(call.http, empty_is_object=empty_is_object)
        except strict_json.InvalidJSON:
            raise InvalidBody from None

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

    def admit(self, request: HttpRequest) -> Call:
        raise NotFound
