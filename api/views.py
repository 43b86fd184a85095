"""The base view of the API.

It checks every call in a fixed order: method, key, quota, account, permission. Then the view makes
its own checks (id, existence, ownership, state, body).
"""

import time
from collections.abc import Mapping
from typing import Any, ClassVar

import structlog
from django.conf import settings
from django.core.exceptions import TooManyFieldsSent
from django.db import DatabaseError, InterfaceError, transaction
from django.http import HttpRequest, HttpResponse
from rest_framework.parsers import JSONParser
from rest_framework.renderers import JSONRenderer
from rest_framework.views import APIView

from accounts.quota import Quota, wait_for_disk
from api.authentication import (
    API_KEYS,
    Call,
    Credentials,
    FindCaller,
    authenticate,
    read_quota,
)
from api.envelope import build_error_response, count_seconds, set_rate_headers
from api.errors import (
    ApiError,
    CallUnderWay,
    IdempotencyKeyReused,
    InvalidBody,
    MethodNotAllowed,
    NotFound,
    RateLimited,
    ResourceDenied,
    ServerFailure,
    ServiceUnavailable,
    Unauthorized,
    ValidationFailed,
)
from api.idempotency import KeyedCall
from db.outages import is_outage, note_outage
from db.times import iso_from_unix
from web import metrics, strict_json
from web.waiting import get_resumed

log = structlog.get_logger(__name__)

FREE = "api.free"  # in the environment of a call that costs nothing
FREE_OF_CHARGE = (CallUnderWay, IdempotencyKeyReused, MethodNotAllowed, Unauthorized)


class ApiView(APIView):
    """The base class of every path of the API.

    `permissions` maps a method to the permission it needs (None: any valid key), and `failures`
    to the error when something unexpected happens. `dispatch` replaces that of the framework:
    with one kind of key, body and renderer there is nothing to negotiate.
    """

    http_method_names = ["get", "post", "put", "delete", "head"]
    renderer_classes = [JSONRenderer]  # this and the next are for the OpenAPI document
    parser_classes = [JSONParser]
    permissions: ClassVar[Mapping[str, str | None]] = {}
    failures: ClassVar[Mapping[str, type[ServerFailure]]] = {}
    open_to_inactive_accounts: ClassVar[bool] = False
    has_secret: ClassVar[bool] = False  # in a response, which is then stored encrypted
    credentials: ClassVar[Credentials] = API_KEYS
    quota: Quota | None  # after this call; unset until the key is read

    def dispatch(self, request: HttpRequest, **ids: str) -> HttpResponse:
        try:
            key = request.META.get("HTTP_IDEMPOTENCY_KEY") if request.method == "POST" else None
            if key is None:
                # a resumed call is already charged
                is_charged = get_resumed(request.META) is None and FREE not in request.META
                find = self.credentials.charge if is_charged else self.credentials.find_caller
                response = self.handle(self.authorize(request, find), ids)
            else:
                response = self.handle_keyed(request, key, ids)
        except Exception as exc:
            response = self.handle_error(exc)
        if not hasattr(self, "quota"):  # 404 and 405 cost nothing but report the quota
            self.quota = read_quota(request, self.credentials)
        set_rate_headers(response, self.quota, setting=self.credentials.limit)
        return response

    def handle(self, call: Call, ids: dict[str, str]) -> HttpResponse:
        """Calls the method of the view. Raises ApiError."""
        response: HttpResponse = getattr(self, self.get_method(call.request).lower())(call, **ids)
        return response

    def handle_keyed(self, request: HttpRequest, key: str, ids: dict[str, str]) -> HttpResponse:
        """Handles a call with an Idempotency-Key, or repeats the response to the first such call.

        A repeated call costs nothing, also while the first is still running. The charge is
        committed together with the changes of the call. A failure is charged separately and not
        stored. Raises ApiError.
        """
        try:
            call = self.authorize(request, self.credentials.find_caller)
            keyed = KeyedCall(request, key, call.account.id)
            response = self.replay(keyed, call, ids) or self.handle_first(keyed, call, ids)
        except FREE_OF_CHARGE:
            raise
        except Exception:
            self.authorize(request, self.credentials.charge)
            raise
        return response

    def replay(self, keyed: KeyedCall, call: Call, ids: dict[str, str]) -> HttpResponse | None:
        """Returns the stored response to the first call, None where there is none.

        Raises IdempotencyKeyReused, and ApiError where the caller may no longer see the response.
        """
        response = keyed.replay()
        if response is not None:
            self.check_replay(call, ids)
        return response

    def check_replay(self, call: Call, ids: dict[str, str]) -> None:
        """Checks that the caller may still see a stored response. Raises ApiError.

        An account may see what its own calls got, so this is for paths with data of others.
        """

    @transaction.atomic
    def handle_first(self, keyed: KeyedCall, call: Call, ids: dict[str, str]) -> HttpResponse:
        """Handles the first call with an Idempotency-Key, and stores its response."""
        keyed.begin()
        if replayed := self.replay(keyed, call, ids):  # the first call has just ended
            return replayed
        if not call.caller.quota.remaining:
            raise build_quota_error(call.caller.quota)
        response = self.handle(call, ids)
        self.authorize(call.request, self.credentials.charge)
        wait_for_disk()
        keyed.store(response, is_sealed=self.has_secret)
        return response

    def authorize(self, request: HttpRequest, find: FindCaller) -> Call:
        """Finds the caller, and checks quota, account and permission. Raises ApiError."""
        if request.method not in self.allowed_methods:
            raise MethodNotAllowed
        self.quota = None
        call = authenticate(request, find, self.credentials)
        self.quota = call.caller.quota
        if call.caller.exhausted:
            raise build_quota_error(self.quota)
        if not call.account.is_active and not self.open_to_inactive_accounts:
            raise ResourceDenied
        permission = self.permissions[self.get_method(request)]
        if permission is not None and permission not in call.caller.permissions:
            raise ResourceDenied
        return call

    def get_method(self, request: HttpRequest) -> str:
        """Returns the HTTP method; HEAD is handled as GET."""
        method = str(request.method)
        return "GET" if method == "HEAD" else method

    @property
    def allowed_methods(self) -> list[str]:
        return [name.upper() for name in self.http_method_names if hasattr(self, name)]

    def read_body(self, call: Call, *, empty_is_object: bool = False) -> dict[str, Any]:
        """Reads the JSON object of the body. Raises InvalidBody."""
        try:
            return strict_json.read_object(call.request, empty_is_object=empty_is_object)
        except strict_json.InvalidJSON as error:
            raise InvalidBody(str(error)) from None

    def refuse_repeated(self, call: Call, *within: str) -> None:
        """Raises InvalidBody if a JSON object of the body has the same name twice.

        `within` are the names that lead to the part that is searched.
        """
        repeated = strict_json.find_repeated(strict_json.read_bytes(call.request), within)
        if repeated is not None:
            raise InvalidBody(f"{repeated} must not occur twice")

    def handle_error(self, exc: Exception) -> HttpResponse:
        """Builds the response to an exception."""
        error = exc if isinstance(exc, ApiError) else self.convert_unexpected(exc)
        response = build_error_response(error)
        if isinstance(error, MethodNotAllowed):
            response["Allow"] = ", ".join(self.allowed_methods)
        return response

    def convert_unexpected(self, exc: Exception) -> ApiError:
        """Logs an unexpected exception and returns the error that the client receives."""
        if isinstance(exc, DatabaseError | InterfaceError) and is_outage(exc):
            note_outage(exc)
            log.error("api.database_unreachable", error=str(exc))
            return ServiceUnavailable()
        if isinstance(exc, TooManyFieldsSent):  # Django's limit on query strings
            limit = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
            return ValidationFailed(f"query must have at most {limit} parameters")
        log.error("api.failed", view=type(self).__name__, exc_info=exc)
        return self.failures.get(self.get_method(self.request), ServerFailure)()


def build_quota_error(quota: Quota) -> RateLimited:
    """Builds the 429 error of a key whose hourly quota is used up, and counts it."""
    metrics.note_quota_refusal()
    detail = {
        "usage_count": quota.used,
        "usage_limit": quota.limit,
        "remaining": 0,
        "reset_at": iso_from_unix(quota.reset),
    }
    return RateLimited(detail, retry_after=count_seconds(quota.reset, time.time()))


class UnknownPath(ApiView):
    """Responds 404 to every unknown path below /v1."""

    schema = None

    def authorize(self, request: HttpRequest, find: FindCaller) -> Call:
        raise NotFound
