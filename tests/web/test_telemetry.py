"""Traces and errors that are reported elsewhere: off by default, and without anything private."""

import os
import subprocess
import sys
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pytest_django import Settings

from config import settings as defaults
from config import telemetry
from loops.models import Loop
from reviews.models import Request
from tests.conftest import Api
from tests.processes.stack import ROOT
from tests.web.collector import collecting
from tests.webhooks.conftest import Emit, deliver_here
from tests.webhooks.conftest import emit_to as emit_to
from tests.webhooks.conftest import receiver as receiver
from tests.webhooks.receivers import Receiver, Reply
from web import error_reports, tracing

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
SECRETS = ("rl_live_secretsecret", "ada@example.com", "s3cr3t-cookie", "whsec_", "q=private")
# What a web process does: it loads the application, forks, and answers calls in the child.
AFTER_THE_FORK = f"""
import os, sys
import structlog
from config.asgi import application
from web.asgi import Request
assert "sentry_sdk" not in sys.modules
if os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
meta = {{
    "REQUEST_METHOD": "GET", "PATH_INFO": "/v1/api/requests/0123456789abcdef01234567",
    "QUERY_STRING": "q=private", "SERVER_NAME": "localhost", "SERVER_PORT": "80",
    "HTTP_HOST": "localhost", "SERVER_PROTOCOL": "HTTP/1.1", "REMOTE_ADDR": "127.0.0.1",
    "HTTP_TRACEPARENT": "{TRACEPARENT}", "HTTP_X_REQUEST_ID": "call-7",
    "HTTP_AUTHORIZATION": "Bearer rl_live_secretsecret", "HTTP_COOKIE": "sessionid=s3cr3t-cookie",
    "wsgi.url_scheme": "http",
}}
response = application(Request(meta, b""))
print(response.status_code, response.reason_phrase)
structlog.contextvars.bind_contextvars(request_id="call-7")
key = "rl_live_secretsecret"
try:
    raise ValueError(f"{{key}} of ada@example.com is no key\\nDETAIL: whsec_abc")
except ValueError as error:
    structlog.get_logger("reviews").error("thing.failed", person="ada@example.com", exc_info=error)
structlog.get_logger("reviews").error("other.failed", person="ada@example.com")
structlog.get_logger("reviews").warning("harmless")
sys.exit(0)
"""


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


def attributes(span: Any) -> dict[str, object]:
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}


def test_a_web_process_reports_after_its_fork() -> None:
    with collecting() as collector:
        done = run(
            AFTER_THE_FORK,
            OTEL_EXPORTER_OTLP_ENDPOINT=f"http://{collector.address}",
            OTEL_SERVICE_NAME="desk",
            SENTRY_DSN=f"http://key@{collector.address}/7",
            LOG_LEVEL="INFO",
            PROCESS_KIND="web",
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("401 ")
    ((process, span),) = collector.spans()
    assert process == "web"
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, PARENT)
    assert span.name == "GET /v1/api/requests/<request_id>"
    assert attributes(span) == {
        "http.request.method": "GET",
        "url.scheme": "http",
        "http.route": "/v1/api/requests/<request_id>",
        "http.response.status_code": 401,
        "reviewloop.request_id": "call-7",
    }
    failed, other = collector.events()
    (value,) = failed["exception"]["values"]
    assert (value["type"], value["value"]) == ("ValueError", "[hidden] of [hidden] is no key")
    assert "vars" not in value["stacktrace"]["frames"][-1]
    assert failed["transaction"] == "thing.failed"
    assert failed["tags"] == {"process": "web", "logger": "reviews", "request_id": "call-7"}
    assert other["message"] == "other.failed"
    sent = b"".join(body for _, body in collector.posts).decode("utf-8", "replace")
    assert [text for text in SECRETS if text in sent.replace(AFTER_THE_FORK, "")] == []
    assert "request" not in failed
    assert not {"user", "breadcrumbs", "extra", "modules"} & failed.keys()


def test_nothing_is_imported_while_it_is_off() -> None:
    """Redis's client imports the SDK of OpenTelemetry by itself, where it is installed."""
    done = run(
        "import sys, logging, config.asgi\n"
        "from config.celery import app\n"
        "app.loader.import_default_modules()\n"
        "logging.getLogger('reviews').error('a line for the log')\n"
        "ours = {'opentelemetry.exporter', 'sentry_sdk', 'web.tracing', 'web.error_reports'}\n"
        "print(ours & sys.modules.keys())"
    )
    assert (done.stdout, done.returncode) == ("set()\n", 0), done.stderr
    assert not defaults.TRACING
    assert "web.tracing.TracingMiddleware" not in defaults.MIDDLEWARE
    assert list(defaults.LOGGING["handlers"]) == ["stderr"]


def read_both() -> None:
    telemetry.read_tracing()
    telemetry.read_sentry_dsn()


@pytest.mark.parametrize("variable", ["OTEL_EXPORTER_OTLP_ENDPOINT", "SENTRY_DSN"])
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "http://key@127.0.0.1:4318/7")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImproperlyConfigured) as failure:
        read_both()
    package = "sentry_sdk" if variable == "SENTRY_DSN" else "opentelemetry"
    assert str(failure.value) == (
        f"{variable} is set, but the package {package} is not installed. Run pip install -c"
        f" constraints.txt -r requirements-observability.txt, or remove {variable}."
    )


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"SENTRY_DSN": "hello"}, "SENTRY_DSN is no DSN"),
        ({"SENTRY_DSN": "https://key@sentry.example/name"}, "SENTRY_DSN is no DSN"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"}, "address of a collector"),
        (
            {
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4317",
                "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
            },
            "the service speaks http/protobuf",
        ),
    ],
)
def test_a_malformed_variable_is_refused(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], says: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=says):
        read_both()


def test_the_standard_switch_turns_traces_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector:4318/v1/traces")
    assert telemetry.read_tracing()
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert not telemetry.read_tracing()


@pytest.fixture
def spans(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Tracing is on; what ends is kept here."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "get_tracer", lambda: provider.get_tracer("test"))
    settings.TRACING = True
    settings.MIDDLEWARE = [
        settings.MIDDLEWARE[0],
        "web.tracing.TracingMiddleware",
        *settings.MIDDLEWARE[1:],
    ]
    return exporter


QUESTION = {
    "processing_type": "time-sensitive", "type": "markdown", "priority": "high",
    "request_text": "Refund?", "timeout_seconds": 600, "response_type": "text",
    "response_config": {}, "default_response": "", "platform": "api",
}  # fmt: skip


@pytest.mark.parametrize("given", [TRACEPARENT, None])
def test_what_a_call_causes_belongs_to_its_span(
    spans: InMemorySpanExporter, loop: Loop, owner_key: str, given: str | None
) -> None:
    headers = {"traceparent": given} if given else {}
    Api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", QUESTION, **headers)
    (span,) = spans.get_finished_spans()
    assert span.name == "POST /v1/api/loops/<loop_id>/requests"
    assert Request.objects.get().traceparent == tracing.write_traceparent(span)
    if given:
        assert tracing.write_traceparent(span).split("-")[1] == TRACE


def test_an_attempt_is_a_span_of_its_own(
    spans: InMemorySpanExporter, emit_to: Emit, receiver: Receiver
) -> None:
    emit_to(f"{receiver.url}?token=s3cr3t")
    receiver.respond = lambda _: Reply(503)
    assert deliver_here() == 1
    (span,) = spans.get_finished_spans()
    (post,) = receiver.got
    assert post.headers["traceparent"] == tracing.write_traceparent(span)
    assert span.attributes is not None
    assert span.attributes["http.response.status_code"] == 503
    assert span.status.status_code.name == "ERROR"
    assert "s3cr3t" not in span.to_json()


def test_probes_and_pages_that_fail(spans: InMemorySpanExporter, db: None) -> None:
    api = Api(None)
    api.get("/healthz")
    assert spans.get_finished_spans() == ()
    with pytest.raises(ZeroDivisionError), tracing.sending("a.example", "d", None):
        raise ZeroDivisionError("s3cr3t")
    (span,) = spans.get_finished_spans()
    assert dict(span.attributes or {})["error.type"] == "ZeroDivisionError"
    assert "s3cr3t" not in span.to_json()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("duplicate key\nDETAIL:  Key (email)=(a@b.example)", "duplicate key"),
        ("https://ada:pw@a.example/x?token=1 failed", "https://***@a.example/x[hidden] failed"),
        ("no rl_live_abc", "no [hidden]"),
        ("", ""),
    ],
)
def test_texts_hide_secrets(text: str, shown: str) -> None:
    assert error_reports.hide_secrets(text) == shown


def test_what_an_integration_might_add_is_taken_out() -> None:
    private = ("request", "user", "extra", "breadcrumbs", "modules")
    event = {"message": "of ada@example.com", **{key: {"cookies": "s3cr3t"} for key in private}}
    assert error_reports.scrub(event, {}) == {"message": "of [hidden]"}
