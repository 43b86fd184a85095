"""One attempt to push: encrypt, sign, post, and read the push service's response."""

from datetime import UTC, datetime

import structlog
from django.conf import settings

from reviews.notifications.outcome import GONE, STALE, Outcome, Result
from reviews.notifications.push import message as messages
from reviews.notifications.push.message import Message, Target
from reviews.notifications.push.outbox import Item
from webhooks import outbound
from webhooks.attempt import tls
from webhooks.failure_texts import INTERNAL_ERROR
from webhooks.schedule import read_retry_after

DELAYS = (2, 5, 15, 30, 60, 120, 300, 600, 600, 600, 600)
SECONDS = 5.0  # for a whole exchange with a push service
USER_AGENT = "ReviewLoop-Push/1"
log = structlog.get_logger(__name__)


def attempt(item: Item) -> Outcome:
    """Pushes a claimed notification, unless it is stale or its device is gone."""
    if item.message is None:
        return STALE
    if item.target is None:
        return GONE
    return push(item.message, item.target)


def push(message: Message, target: Target) -> Outcome:
    """Posts a message to a push service. Never raises: every failure is an outcome."""
    try:
        response = outbound.post(
            target.endpoint,
            body=messages.encrypt(message.payload, target),
            headers={"User-Agent": USER_AGENT, **messages.headers(message, target)},
            seconds=SECONDS,
            opened=settings.PUSH_OPEN_NETWORKS,
            tls=tls(),
        )
    except outbound.Refused as error:
        return Outcome(Result.REJECTED, str(error))
    except outbound.Unreachable as error:
        return Outcome(Result.RETRY, str(error))
    except Exception as error:
        log.exception("push.failed", subscription=target.subscription_id)
        return Outcome(Result.REJECTED, INTERNAL_ERROR % {"name": type(error).__name__})
    result = result_of(response.status)
    if result == Result.ACCEPTED:
        return Outcome(result)
    return Outcome(
        result,
        f"HTTP {response.status}",
        retry_after=read_retry_after(response.headers.get("retry-after"), now=datetime.now(UTC)),
        endpoint=target.endpoint if result == Result.GONE else "",
    )


def result_of(status: int) -> Result:
    """What a push service's status means (RFC 8030).

    404 and 410 are for subscriptions that have ended; 429 and 5xx pass.
    """
    if 200 <= status < 300:
        return Result.ACCEPTED
    if status in (404, 410):
        return Result.GONE
    if status == 429 or status >= 500:
        return Result.RETRY
    return Result.REJECTED
