"""One message of a client, and the calls of the API that it takes to answer it.

A tool is a call of the API in the same process: the view checks the key, charges the call, checks
what was sent, and answers; nothing of it is written here again.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict

from accounts.free_polls import take_free_poll
from api.authentication import API_KEYS, ASKED_THROUGH, Call, authenticate, read_key
from api.envelope import dumps, set_rate_headers
from api.errors import ApiError, ResourceDenied, Unauthorized
from api.mcp.errors import ToolFailed, build_access_error
from api.mcp.revisions import Revision
from api.views import FREE, ApiView
from db.ids import normalize_id
from web.waiting import DEFERRED

_HEADERS = (
    *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
    *("RateLimit-Policy", "RateLimit", "Retry-After"),
)


class Exchange:
    """A message that is being answered. A batch has no waits: they would answer it again.

    `traceparent` is that of the message, which wins over that of the HTTP request.
    """

    def __init__(
        self,
        request: HttpRequest,
        revision: Revision,
        *,
        may_wait: bool,
        traceparent: str | None = None,
    ) -> None:
        self.request = request
        self.revision = revision
        self.may_wait = may_wait
        self.traceparent = traceparent
        self.headers: dict[str, str] | None = None  # of the response, once the key is checked

    def call(
        self,
        view: type[ApiView],
        method: str,
        *,
        ids: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        key: str | None = None,
        is_free: bool = False,
    ) -> dict[str, Any]:
        """Calls the API and returns its `data`. Raises ToolFailed, and RpcError for a bad key.

        `key` is the Idempotency-Key.
        """
        inner = HttpRequest()
        inner.method = method
        inner.path = inner.path_info = " ".join([view.__name__, *(ids or {}).values()])
        inner.GET = QueryDict(urlencode(query or {}))
        inner.raw_body = dumps(body or {})  # type: ignore[attr-defined]
        inner.META = self._build_environment(key=key, is_free=is_free)
        called = view()
        called.setup(inner, **(ids or {}))
        response = called.dispatch(inner, **(ids or {}))
        return self._read(response, is_known=called.quota is not None)

    def call_or_poll(self, view: type[ApiView], request_id: Any, **call: Any) -> dict[str, Any]:
        """Calls the view of a request; free of charge unless that comes too often, or fails."""
        if self._may_poll(request_id):
            try:
                return self.call(view, "GET", is_free=True, **call)
            except ToolFailed:
                pass  # whoever tries ids pays for it
        return self.call(view, "GET", **call)

    def authenticate(self) -> None:
        """Checks the key without a charge, unless a call has. Raises RpcError."""
        if self.headers is not None:
            return
        call = self._find_call()
        if not call.account.is_active:
            raise build_access_error(ResourceDenied.sentence, None, status=ResourceDenied.status)
        response = HttpResponse()
        set_rate_headers(response, call.caller.quota)
        self.headers = dict(response.headers)
        del self.headers["Content-Type"]

    def trust_first_check(self) -> None:
        """Leaves it at the check of the key before the call began to wait.

        It is for a reply that must arrive while the database is away, and tells only what the
        client would have been told then.
        """
        self.headers = self.headers or {}

    def check_permission(self, permission: str, *, needed_by: str) -> None:
        """Checks that the key has a permission a tool needs later. Raises ToolFailed, RpcError."""
        if permission not in self._find_call().caller.permissions:
            detail = f"{needed_by} needs {permission} too"
            raise ToolFailed(ResourceDenied.sentence, detail, status=ResourceDenied.status)

    def _find_call(self) -> Call:
        """Reads the key without a charge. Raises RpcError."""
        try:
            return authenticate(self.request, API_KEYS.find_caller, API_KEYS)
        except ApiError as error:
            refusal = build_access_error(error.sentence, error.detail, status=error.status)
            if error.retry_after is not None:
                refusal.headers["Retry-After"] = str(error.retry_after)
            raise refusal from None

    def _build_environment(self, *, key: str | None, is_free: bool) -> dict[str, Any]:
        environment = dict(self.request.META)
        environment.pop("HTTP_IDEMPOTENCY_KEY", None)
        environment["CONTENT_TYPE"] = "application/json"
        client = self.revision.client
        environment[ASKED_THROUGH] = f"MCP ({client})" if client else "MCP"
        if key is not None:
            environment["HTTP_IDEMPOTENCY_KEY"] = key
        if self.traceparent is not None:
            environment["HTTP_TRACEPARENT"] = self.traceparent
        if is_free:
            environment[FREE] = True
        if not self.may_wait:
            environment.pop(DEFERRED, None)
        return environment

    def _may_poll(self, request_id: Any) -> bool:
        topic = normalize_id(request_id) if isinstance(request_id, str) else None
        with suppress(Unauthorized):
            key = read_key(self.request.META.get("HTTP_AUTHORIZATION"))
            return topic is not None and take_free_poll(key, topic)
        return False

    def _read(self, response: HttpResponse, *, is_known: bool) -> dict[str, Any]:
        """Reads the envelope. `is_known` tells whether the key was found."""
        body = json.loads(response.content)
        headers = {name: response[name] for name in _HEADERS if name in response}
        if not is_known:
            refusal = build_access_error(body["msg"], body["data"], status=response.status_code)
            refusal.headers.update(headers)
            raise refusal
        self.headers = headers
        if response.status_code >= 400:
            raise ToolFailed(body["msg"], body["data"], status=response.status_code)
        data: dict[str, Any] = body["data"]
        return data
