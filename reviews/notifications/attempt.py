"""One push: encrypt, sign, post, judge."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog
from django.conf import settings

from reviews.notifications import message as messages
from reviews.notifications.message import Message, Target
from reviews.notifications.outbox import PUSH_SECONDS
from reviews.notifications.schedule import PUSH_DELAYS, Meaning, meaning
from webhooks import outbound
from webhooks.attempt import tls
from webhooks.schedule import next_delay, read_retry_after

USER_AGENT = "ReviewLoop-Push/1"
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a push. `delay` is the seconds to wait, where it is worth another attempt."""

    meaning: Meaning
    error: str = ""
    delay: float = 0.0


def push(message: Message, target: Target, *, failed_before: int = 0) -> Verdict:
    """Posts it, whatever comes of it; never raises."""
    try:
        answer = outbound.post(
            target.endpoint,
            body=messages.encrypt(message.payload, target),
            headers={"User-Agent": USER_AGENT, **messages.headers(message, target)},
            seconds=PUSH_SECONDS,
            opened=settings.WEBHOOK_OPEN_NETWORKS,
            tls=tls(),
        )
    except outbound.Refused as error:
        return Verdict(Meaning.NEVER, str(error))
    except outbound.Unreachable as error:
        return later(str(error), failed_before)
    except Exception as error:
        log.exception("push.failed", device=target.subscription_id)
        return Verdict(Meaning.NEVER, f"Internal error: {type(error).__name__}.")
    found = meaning(answer.status)
    said = f"HTTP {answer.status}"
    if found != Meaning.LATER:
        return Verdict(found, "" if found == Meaning.ACCEPTED else said)
    wait = read_retry_after(answer.headers.get("retry-after"), now=datetime.now(UTC))
    return later(said, failed_before, wait)


def later(error: str, failed_before: int, retry_after: float | None = None) -> Verdict:
    """Another attempt, while the schedule has one."""
    delay = next_delay(
        PUSH_DELAYS,
        failed_attempts=failed_before + 1,
        chance=random.random(),  # noqa: S311 (jitter)
        retry_after=retry_after,
    )
    if delay is None:
        return Verdict(Meaning.NEVER, error)
    return Verdict(Meaning.LATER, error, delay)
