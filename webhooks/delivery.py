"""One attempt: sign, post, judge, record (specification, Events)."""

import functools
import random
import ssl
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from accounts import vault
from accounts.secret_services import Secrets, read_secrets
from webhooks import outbound, outbox, schedule, signing
from webhooks.models import Delivery
from webhooks.outbox import Job, Outcome

T = TypeVar("T")
log = structlog.get_logger(__name__)


@functools.cache
def tls() -> ssl.SSLContext:
    """How receivers are verified; made once, for loading the authorities takes long."""
    return outbound.tls_context(settings.WEBHOOK_CA_FILE)


def deliver(job: Job) -> Outcome:
    """Posts a claimed delivery and records how it ended.

    The secrets are those of this moment; where they cannot be read, nothing is sent.
    """
    try:
        secrets = persistently(lambda: read_secrets(job.account_id))
    except vault.Unreadable:
        outcome = Outcome(error="The webhook secret can't be decrypted: its key is not set.")
    else:
        outcome = attempt(job.url, job.body, message_id=job.delivery_id, secrets=secrets)
    state, delay = judge(outcome, failed_before=job.failed_attempts)
    recorded = persistently(lambda: outbox.record(job, outcome, state=state, delay=delay))
    log.info(
        "webhook.attempted" if recorded else "webhook.lease_lost",
        delivery=job.delivery_id,
        state=state.value,
        status=outcome.status,
        error=outcome.error,
    )
    return outcome


def persistently(ask: Callable[[], T]) -> T:
    """What the database says; the second time, where it was restarted since this thread's last
    question."""
    try:
        return ask()
    except (OperationalError, InterfaceError):
        connection.close()
        return ask()


def attempt(url: str, body: bytes, *, message_id: str, secrets: Secrets) -> Outcome:
    """Signs and posts, whatever comes of it."""
    headers = {
        "Content-Type": "application/json",
        **signing.headers(
            message_id=message_id,
            timestamp=int(time.time()),
            body=body,
            plain_key=secrets.plain_key,
            standard_keys=[secret.standard_key for secret in secrets.in_use],
        ),
    }
    try:
        answer = outbound.post(
            url,
            body=body,
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
        # unforeseen, but an attempt: else it would be repeated with every lease, for ever
        log.exception("webhook.failed", delivery=message_id)
        return Outcome(error=f"Internal error: {type(error).__name__}.", request_headers=headers)
    return Outcome(
        status=answer.status,
        retry_after=schedule.read_retry_after(
            answer.headers.get("retry-after"), now=datetime.now(UTC)
        ),
        request_headers=headers,
        answer_headers=dict(answer.headers),
        answer_body=answer.body,
    )


def judge(outcome: Outcome, *, failed_before: int) -> tuple[Delivery.State, float]:
    """What becomes of a delivery after an attempt, and the seconds until the next one."""
    if outcome.status is not None and 200 <= outcome.status < 300:
        return Delivery.State.DELIVERED, 0.0
    if outcome.status == schedule.GONE:
        return Delivery.State.DEAD, 0.0
    delay = schedule.next_delay(
        failed_attempts=failed_before + 1,
        chance=random.random(),  # noqa: S311 (jitter)
        retry_after=outcome.retry_after,
        scale=float(settings.WEBHOOK_SCHEDULE_SCALE),
    )
    return (Delivery.State.DEAD, 0.0) if delay is None else (Delivery.State.WAITING, delay)
