"""Two accounts send test events to twenty silent receivers, while others work."""

import contextlib
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from tests.faults import rogues
from tests.faults.clients import Person
from tests.faults.fairness_faults import first_posts, spread
from tests.faults.receiver import receiving
from tests.faults.service import PEOPLE
from tests.faults.trial import Trial
from tests.waiting import wait_until

T = TypeVar("T")
RECEIVERS, CALLS, EVENTS = 20, 200, 20
MAX_CALL = 1.0  # seconds, p99
_UNDER_WAY = """
SELECT count(*) FROM webhooks_attempt a JOIN webhooks_delivery d ON d.id = a.delivery_id
 WHERE d.event = 'webhook.test' AND finished_at IS NULL
"""


def tested_by_two_accounts(trial: Trial) -> str:
    """Nobody's web request waits for them, and nobody's events do."""
    service, machine = trial.service, trial.service.machine()
    people = [service.person(email) for email in PEOPLE]
    with contextlib.ExitStack() as block, receiving() as receiver:
        urls = [block.enter_context(rogues.rogue(rogues.silent)) for _ in range(RECEIVERS)]
        posted = [
            timed(partial(ask_for_test, people[number % 2], url)) for number, url in enumerate(urls)
        ]
        wait_until(lambda: service.rows(_UNDER_WAY)[0][0] > 0, 30)
        request_id = machine.ask()
        calls = [timed(partial(machine.read, request_id))[0] for _ in range(CALLS)]
        events = first_posts(service, receiver, EVENTS)
        assert service.rows(_UNDER_WAY)[0][0] > 0  # they are silent still
        wait_until(lambda: service.rows(_UNDER_WAY)[0][0] == 0, 10 * service.timeout)
    assert {status for _, status in posted} == {302, 422}  # five of an account wait at a time
    pages = [seconds for seconds, _ in posted]
    assert max(pages) < MAX_CALL + trial.scale.late
    assert sorted(calls)[int(0.99 * CALLS) - 1] < MAX_CALL
    assert max(events) < trial.scale.late
    return (
        f"the page responded to the {RECEIVERS} forms: {spread(pages)};"
        f" {CALLS} calls of another account: {spread(calls)};"
        f" {EVENTS} of its events: {spread(events)}"
    )


def ask_for_test(person: Person, url: str) -> int:
    """The status of the page that the form leads to."""
    return person.post("/dashboard/deliveries/test/", url=url).status_code


def timed(call: Callable[[], T]) -> tuple[float, T]:
    """The seconds that a call took, and its result."""
    began = time.monotonic()
    result = call()
    return time.monotonic() - began, result
