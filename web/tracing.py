"""Creates spans of calls and webhooks for OpenTelemetry. Only imported if TRACING is on.

A span has the method, the route, the status and the id of the call, but no path, query, header or
body. Paths of pages contain invite codes and password links; URLs of receivers may contain secrets.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import (
    INVALID_SPAN_CONTEXT,
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from web import call_ids
from web.observing import QUIET, simplify
from web.waiting import get_resumed, is_kept

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_TRACE_CONTEXT = TraceContextTextMapPropagator()
_lock = threading.Lock()
_tracer: Tracer | None = None
_process = 0


def get_tracer() -> Tracer:
    """Returns the tracer of this process.

    It sends from a thread, which does not survive a fork: each web process creates its own.
    """
    global _tracer, _process
    with _lock:
        if _tracer is None or _process != os.getpid():
            name = os.environ.get("OTEL_SERVICE_NAME") or "review-loop"
            kind = str(settings.PROCESS_KIND)
            resource = Resource.create({"service.name": name, "reviewloop.process": kind})
            provider = TracerProvider(resource=resource)
            provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
            _tracer, _process = provider.get_tracer("reviewloop"), os.getpid()
        return _tracer


def read_parent(traceparent: str | None) -> Context:
    """Returns the trace context of a header; an empty one without it."""
    return _TRACE_CONTEXT.extract({"traceparent": traceparent} if traceparent else {}, Context())


def write_traceparent(span: Span | ReadableSpan) -> str:
    """Returns the header for calls within a span."""
    context = span.get_span_context() or INVALID_SPAN_CONTEXT
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"


class TracingMiddleware:
    """Creates a span for each call; the spans of its effects, such as webhooks, belong to it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(QUIET) or get_resumed(request.META):
            return self.get_response(request)
        method = request.method if request.method in METHODS else "_OTHER"
        span = get_tracer().start_span(
            str(method),
            context=read_parent(request.headers.get("traceparent")),
            kind=SpanKind.SERVER,
            attributes={
                "http.request.method": str(method),
                "url.scheme": str(request.scheme),
                "reviewloop.request_id": call_ids.current() or "",
            },
        )
        request.META["HTTP_TRACEPARENT"] = write_traceparent(span)
        with ending(span):
            response = self.get_response(request)
            match = request.resolver_match
            if match:
                route = simplify(match.route)
                span.update_name(f"{method} {route}")
                span.set_attribute("http.route", route)
            if not is_kept(request.META):  # else the call waits, and has no status yet
                note_status(span, response.status_code, fails_from=500)
            return response


@contextmanager
def sending(host: str, delivery_id: str, traceparent: str | None) -> Iterator[Span]:
    """Creates a span around an attempt of a webhook, in the trace of the causing call."""
    span = get_tracer().start_span(
        "POST webhook",
        context=read_parent(traceparent),
        kind=SpanKind.CLIENT,
        attributes={
            "http.request.method": "POST",
            "server.address": host,
            "reviewloop.delivery_id": delivery_id,
            "reviewloop.request_id": call_ids.current() or "",
        },
    )
    with ending(span):
        yield span


@contextmanager
def ending(span: Span) -> Iterator[None]:
    """Ends a span. Records only the type of an exception, because its text may be private."""
    try:
        yield
    except BaseException as error:
        span.set_attribute("error.type", type(error).__name__)
        span.set_status(Status(StatusCode.ERROR))
        raise
    finally:
        span.end()


def note_status(span: Span, status: int | None, *, fails_from: int) -> None:
    """Records the status of a call; None without a response."""
    if status is not None:
        span.set_attribute("http.response.status_code", status)
    if status is None or status >= fails_from:
        span.set_attribute("error.type", "no response" if status is None else str(status))
        span.set_status(Status(StatusCode.ERROR))
