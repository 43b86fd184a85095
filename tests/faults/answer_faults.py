"""Responses that decide what happens next: 410, and 429 or 503 with Retry-After."""

import math
import time
from collections.abc import Callable
from email.utils import formatdate

from tests.faults.attempts import first_attempt, told
from tests.faults.receiver import Receiver, receiving
from tests.faults.trial import Trial
from tests.waiting import wait_until


def gone(trial: Trial) -> str:
    with receiving() as receiver:
        receiver.respond = lambda _: (410, {})
        attempt = first_attempt(trial.service, told(trial.service, receiver.url))
        assert (attempt.status, attempt.state, len(receiver.posts)) == (410, "dead", 1)
    return "dead after one attempt"


def asked_to_wait(trial: Trial) -> str:
    """429 in seconds and 503 with a date, each for twice as long as planned; then 200."""
    service = trial.service
    asked = math.ceil(2 * 5 * service.scale)
    with receiving() as busy, receiving() as away:
        once(busy, 429, lambda: str(asked))
        once(away, 503, lambda: formatdate(time.time() + asked, usegmt=True))
        request_ids = [told(service, receiver.url) for receiver in (busy, away)]
        wait_until(lambda: service.all_delivered(request_ids), asked + 30)
        waits = [receiver.posts[1].at - receiver.posts[0].at for receiver in (busy, away)]
        assert [len(receiver.posts) for receiver in (busy, away)] == [2, 2]
    # a date has no fractions
    for wait, least in zip(waits, (asked, asked - 1), strict=True):
        assert least <= wait < asked + trial.scale.late
    return f"asked for {asked} s: tried again after {waits[0]:.1f} s and {waits[1]:.1f} s"


def once(receiver: Receiver, status: int, retry_after: Callable[[], str]) -> None:
    """Has the first POST answered with this status, and the others with 200."""
    receiver.respond = lambda _: (
        (status, {"Retry-After": retry_after()}) if len(receiver.posts) == 1 else (200, {})
    )
