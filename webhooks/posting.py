"""One attempt to deliver a webhook: sign, post, judge the response (docs/webhooks.md)."""

import functools
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus

import structlog
from django.conf import settings

from accounts.secret_services import Secrets
from outbox.items import Outcome, Result
from outbox.schedule import read_retry_after
from webhooks import outbound, signing
from webhooks.failure_texts import INTERNAL_ERROR
from webhooks.trace_context import continue_trace

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Post:
    """A claimed delivery: what to post and where, and the row of this attempt."""

    delivery_id: str
    attempt_id: str
    host: str
    url: str
    body: bytes
    traceparent: str | None = None
    endpoint_id: str | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was sent and what came back, for the log of attempts.

    `is_attempt` is false where nothing was sent on purpose, which says nothing about the host.
    """

    status: int | None = None
    request_headers: Mapping[str, str] | None = None
    response_headers: Mapping[str, str] | None = None
    response_body: bytes | None = None
    is_attempt: bool = True


@functools.cache
def tls() -> ssl.SSLContext:
    """How receivers are verified; made once, because loading the authorities takes long."""
    return outbound.tls_context(settings.WEBHOOK_CA_FILE)


def post(delivery: Post, secrets: Secrets) -> Outcome:
    """Signs and posts a delivery. Never raises: every failure is an outcome."""
    headers = {
        "Content-Type": "application/json",
        **signing.headers(
            message_id=delivery.delivery_id,
            timestamp=int(time.time()),
            body=delivery.body,
            plain_key=secrets.plain_key,
            standard_keys=[secret.standard_key for secret in secrets.in_use],
        ),
    }
    if settings.TRACING:
        return post_in_span(delivery, headers)
    if delivery.traceparent is not None:
        headers["traceparent"] = continue_trace(delivery.traceparent)
    return send(delivery, headers)


def post_in_span(delivery: Post, headers: dict[str, str]) -> Outcome:
    """Posts a delivery in a span of its own, which the receiver can continue."""
    from web import tracing  # imports OpenTelemetry

    with tracing.sending(delivery.host, delivery.delivery_id, delivery.traceparent) as span:
        headers["traceparent"] = tracing.write_traceparent(span)
        outcome = send(delivery, headers)
        tracing.note_status(span, outcome.details.status, fails_from=300)
        return outcome


def send(delivery: Post, headers: dict[str, str]) -> Outcome:
    """Posts a delivery with these headers. Never raises."""
    sent = Exchange(request_headers=headers)
    try:
        response = outbound.post(
            delivery.url,
            body=delivery.body,
            headers=headers,
            seconds=float(settings.WEBHOOK_TIMEOUT_SECONDS),
            opened=settings.WEBHOOK_OPEN_NETWORKS,
            tls=tls(),
        )
    except outbound.Refused as error:
        return Outcome(Result.RETRY, str(error), details=sent)
    except outbound.Unreachable as error:
        return Outcome(Result.RETRY, str(error), is_unreachable=True, details=sent)
    except Exception as error:
        # counts as an attempt; otherwise each lease would repeat it, for ever
        log.exception("webhook.failed", delivery=delivery.delivery_id)
        text = INTERNAL_ERROR % {"name": type(error).__name__}
        return Outcome(Result.RETRY, text, details=sent)
    asked = read_retry_after(response.headers.get("retry-after"), now=datetime.now(UTC))
    exchange = Exchange(response.status, headers, dict(response.headers), response.body)
    return Outcome(result_of(response.status), retry_after=asked, details=exchange)


def result_of(status: int) -> Result:
    """What a receiver's status means: 410 is final, everything else but a 2xx is repeated."""
    if 200 <= status < 300:
        return Result.SENT
    return Result.FAILED if status == HTTPStatus.GONE else Result.RETRY
