"""The outcome of an attempt to notify somebody, and the state that follows from it."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from reviews.models import Notification
from webhooks.failure_texts import DEVICE_GONE, NOT_NEEDED
from webhooks.schedule import next_delay

State = Notification.State


class Result(Enum):
    """How an attempt ended."""

    ACCEPTED = "accepted"  # by the push service or the mail server
    RETRY = "retry"  # it failed for now
    REJECTED = "rejected"  # it would always fail
    GONE = "gone"  # the subscription has ended
    SPLIT = "split"  # refused as a whole: each request is to be sent alone
    STALE = "stale"  # no attempt was made, because nobody waits for the notification any more


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended. `endpoint` is that of a subscription that is gone.

    `retry_after` are the seconds for which a push service wants to be left alone.
    """

    result: Result
    error: str = ""
    retry_after: float | None = None
    endpoint: str = ""


STALE = Outcome(Result.STALE, str(NOT_NEEDED))
GONE = Outcome(Result.GONE, str(DEVICE_GONE))


def judge(
    outcome: Outcome, *, delays: Sequence[int], failed_before: int
) -> tuple[Notification.State, float]:
    """The notification's state after an attempt, and the seconds until the next one."""
    if outcome.result == Result.ACCEPTED:
        return State.SENT, 0.0
    if outcome.result != Result.RETRY:
        return State.DROPPED, 0.0
    delay = next_delay(
        delays,
        failed_attempts=failed_before + 1,
        chance=random.random(),  # noqa: S311 (jitter)
        retry_after=outcome.retry_after,
    )
    return (State.DROPPED, 0.0) if delay is None else (State.WAITING, delay)
