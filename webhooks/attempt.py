"""One attempt to deliver a webhook: sign, post, judge the response (specification, Events)."""

import functools
import random
import ssl
import time
from datetime import UTC, datetime
from http import HTTPStatus

import structlog
from django.conf import settings

from accounts import vault
from accounts.secret_services import Secrets, read_secrets
from db.outages import Patience, outlast
from webhooks import outbound, schedule, signing
from webhooks.failure_texts import INTERNAL_ERROR, SECRET_UNREADABLE
from webhooks.models import Delivery
from webhooks.outbox import Item, Outcome
from webhooks.trace_context import continue_trace

# with the first one at once, twelve attempts over about three days
DELAYS = (5, 30, 120, 600, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
log = structlog.get_logger(__name__)


@functools.cache
def tls() -> ssl.SSLContext:
    """How receivers are verified; made once, because loading the authorities takes long."""
    return outbound.tls_context(settings.WEBHOOK_CA_FILE)


def attempt(item: Item, patience: Patience) -> Outcome:
    """Posts a claimed delivery, signed with the secrets that its account has at this moment.

    Where they cannot be read, nothing is sent.
    """
    try:
        secrets = outlast(lambda: read_secrets(item.account_id), patience)
    except vault.Unreadable:
        return Outcome(error=str(SECRET_UNREADABLE))
    return post(item, secrets)


def post(item: Item, secrets: Secrets) -> Outcome:
    """Signs and posts a delivery. Never raises: every failure is an outcome."""
    headers = {
        "Content-Type": "application/json",
        **signing.headers(
            message_id=item.delivery_id,
            timestamp=int(time.time()),
            body=item.body,
            plain_key=secrets.plain_key,
            standard_keys=[secret.standard_key for secret in secrets.in_use],
        ),
    }
    if settings.TRACING:
        return post_in_span(item, headers)
    if item.traceparent is not None:
        headers["traceparent"] = continue_trace(item.traceparent)
    return send(item, headers)


def post_in_span(item: Item, headers: dict[str, str]) -> Outcome:
    """Posts a delivery in a span of its own, which the receiver can continue."""
    from web import tracing  # imports OpenTelemetry

    with tracing.sending(item.host, item.delivery_id, item.traceparent) as span:
        headers["traceparent"] = tracing.write_traceparent(span)
        outcome = send(item, headers)
        tracing.note_status(span, outcome.status, fails_from=300)
        return outcome


def send(item: Item, headers: dict[str, str]) -> Outcome:
    """Posts a delivery with these headers. Never raises."""
    try:
        response = outbound.post(
            item.url,
            body=item.body,
            headers=headers,
            seconds=float(settings.WEBHOOK_TIMEOUT_SECONDS),
            opened=settings.WEBHOOK_OPEN_NETWORKS,
            tls=tls(),
        )
    except outbound.Refused as error:
        return Outcome(error=str(error), request_headers=headers)
    except outbound.Unreachable as error:
        return Outcome(error=str(error), unreachable=True, request_headers=headers)
    except Exception as error:
        # an attempt all the same: else it would be repeated with every lease, for ever
        log.exception("webhook.failed", delivery=item.delivery_id)
        return Outcome(
            error=INTERNAL_ERROR % {"name": type(error).__name__}, request_headers=headers
        )
    return Outcome(
        status=response.status,
        retry_after=schedule.read_retry_after(
            response.headers.get("retry-after"), now=datetime.now(UTC)
        ),
        request_headers=headers,
        response_headers=dict(response.headers),
        response_body=response.body,
    )


def judge(
    outcome: Outcome, *, failed_before: int, is_test: bool = False
) -> tuple[Delivery.State, float]:
    """The delivery's state after an attempt, and the seconds until the next one.

    A test event is never repeated.
    """
    if outcome.status is not None and 200 <= outcome.status < 300:
        return Delivery.State.DELIVERED, 0.0
    if is_test or outcome.status == HTTPStatus.GONE:
        return Delivery.State.DEAD, 0.0
    delay = schedule.next_delay(
        DELAYS,
        failed_attempts=failed_before + 1,
        chance=random.random(),  # noqa: S311 (jitter)
        retry_after=outcome.retry_after,
        scale=float(settings.WEBHOOK_SCHEDULE_SCALE),
    )
    return (Delivery.State.DEAD, 0.0) if delay is None else (Delivery.State.WAITING, delay)
