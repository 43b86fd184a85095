"""POST /mcp: streamable HTTP, stateless, each message answered by one JSON object."""

from dataclasses import dataclass, field, replace
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse

from api.envelope import build_response, dumps
from api.errors import MethodNotAllowed, ServiceUnavailable
from api.mcp import methods
from api.mcp.errors import INTERNAL_ERROR, INVALID_REQUEST, RpcError, build_access_error
from api.mcp.exchange import Exchange
from api.mcp.messages import MAX_BATCH, read_body, read_id, read_message
from api.mcp.revisions import OLDEST, Revision, read_revision
from db.outages import is_outage, note_outage
from webhooks.trace_context import read_traceparent

DENIED = (401, 403, 429, 503)  # what access was refused with; the body says why
log = structlog.get_logger(__name__)


@dataclass
class Reply:
    """The answer to one message; without a body to a notification."""

    body: dict[str, Any] | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    def build(self) -> HttpResponse:
        """Builds the HTTP response."""
        return finish(b"" if self.body is None else dumps(self.body), self.status, self.headers)


def finish(body: bytes, status: int, headers: dict[str, str]) -> HttpResponse:
    response = build_response(body, status=status)
    for name, value in headers.items():
        response[name] = value
    return response


def endpoint(request: HttpRequest) -> HttpResponse:
    """Answers the messages that a client posts."""
    if is_foreign(request):
        return refuse(RpcError(403, "This Origin may not call this service", status=403)).build()
    if request.method != "POST":  # there are no streams to open and no sessions to end
        refusal = RpcError(405, MethodNotAllowed.sentence, status=405)
        refusal.headers["Allow"] = "POST"
        return refuse(refusal).build()
    try:
        value = read_body(request)
    except RpcError as error:
        return authenticate(request, refuse(error)).build()
    if isinstance(value, list):
        return answer_batch(request, value)
    return answer(request, value).build()


def is_foreign(request: HttpRequest) -> bool:
    """Tells whether a page of another site sends this: a browser says where it comes from."""
    origin = request.META.get("HTTP_ORIGIN")
    own = (settings.SITE_URL, f"{request.scheme}://{request.get_host()}")
    return origin is not None and origin not in own


def answer(request: HttpRequest, value: Any, *, may_wait: bool = True) -> Reply:
    """Answers one message. Whoever has no valid key learns nothing but that."""
    message_id = read_id(value)
    try:
        message = read_message(value)
        revision = read_revision(request.META, message)
    except RpcError as error:
        return authenticate(request, refuse(error, message_id))
    trace = read_traceparent(message.meta.get("traceparent"))
    exchange = Exchange(request, revision, may_wait=may_wait, traceparent=trace)
    try:
        reply = Reply(status=202)
        if message.id is not None:
            result = methods.run(exchange, message)
            reply = Reply({"jsonrpc": "2.0", "id": message_id, "result": result})
    except Exception as error:
        reply = refuse(convert(error), message_id)
        if not revision.is_modern and reply.status in (400, 404):
            reply.status = 200  # the older revisions know errors of HTTP only for what is no call
    return authenticate(request, reply, exchange)


def answer_batch(request: HttpRequest, values: list[Any]) -> HttpResponse:
    """Answers a batch of messages, which only the oldest revision allows. None of them waits.

    If the first message is denied access, so is the batch. If a later one is, the batch keeps the
    results before it, and the messages after it get the same error.
    """
    is_old = request.META.get("HTTP_MCP_PROTOCOL_VERSION", OLDEST) == OLDEST
    if not is_old or not 1 <= len(values) <= MAX_BATCH:
        reason = f"at most {MAX_BATCH} messages" if is_old else "one message"
        error = RpcError(INVALID_REQUEST, f"The body must have {reason}")
        return authenticate(request, refuse(error)).build()
    replies: list[Reply] = []
    denied: Reply | None = None
    for value in values:
        if denied:
            replies.append(deny_alike(denied, value))
            continue
        reply = answer(request, value, may_wait=False)
        if reply.status in DENIED:
            denied = reply
        replies.append(reply)
    if replies[0].status in DENIED:
        return replies[0].build()
    bodies = [reply.body for reply in replies if reply.body is not None]
    if not bodies:
        return replies[-1].build()
    return finish(b"[" + b",".join(map(dumps, bodies)) + b"]", 200, replies[-1].headers)


def deny_alike(denied: Reply, value: Any) -> Reply:
    """Builds the same error as a reply to another message; a notification gets no reply."""
    message_id = read_id(value)
    body = None if message_id is None else {**(denied.body or {}), "id": message_id}
    return replace(denied, body=body)


def authenticate(request: HttpRequest, reply: Reply, exchange: Exchange | None = None) -> Reply:
    """Returns the reply with the headers of the quota, or the refusal of a bad key instead."""
    exchange = exchange or Exchange(request, Revision(OLDEST), may_wait=False)
    try:
        if reply.status not in DENIED:
            exchange.authenticate()
    except Exception as error:
        return refuse(convert(error), reply.body.get("id") if reply.body else None)
    reply.headers = {**(exchange.headers or {}), **reply.headers}
    return reply


def convert(error: Exception) -> RpcError:
    """Returns the error that the client receives; logs what is unexpected."""
    if isinstance(error, RpcError):
        return error
    if isinstance(error, DatabaseError | InterfaceError) and is_outage(error):
        note_outage(error)
        unavailable = ServiceUnavailable()
        refusal = build_access_error(unavailable.sentence, None, status=503)
        refusal.headers["Retry-After"] = str(unavailable.retry_after)
        return refusal
    log.error("mcp.failed", exc_info=error)
    return RpcError(INTERNAL_ERROR, "Internal error", status=500)


def refuse(error: RpcError, message_id: str | int | None = None) -> Reply:
    """Builds the reply to an error."""
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": message_id, "error": error.describe()}
    return Reply(body, error.status, error.headers)
