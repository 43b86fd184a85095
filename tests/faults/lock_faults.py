"""A table that stays locked: calls that need it are refused in time, others go on."""

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import requests

from tests.faults.attempts import told
from tests.faults.clients import PATIENCE
from tests.faults.receiver import Receiver, receiving
from tests.faults.trial import Trial
from tests.waiting import wait_until

IN_TIME = 10.0  # seconds for every answer
LOCKED = 40.0  # seconds at most
BLOCKED, OTHERS = 32, 4  # callers; the service has 16 threads on two cores
PACE = 0.05  # seconds between two calls of the others
Send = Callable[[], requests.Response]


@dataclass
class Calls:
    """What callers were told, and how many seconds each answer took."""

    statuses: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def repeat(self, send: Send, over: threading.Event, pace: float = 0.0) -> None:
        while not over.is_set():
            begun = time.monotonic()
            answer = send()
            self.seconds.append(time.monotonic() - begun)
            self.statuses.append(answer.status_code)
            if answer.status_code == 503:
                assert answer.headers["Retry-After"], answer.headers
                assert_says_so(answer)
            over.wait(pace)

    @property
    def p99(self) -> float:
        return sorted(self.seconds)[math.ceil(len(self.seconds) * 0.99) - 1]


def assert_says_so(answer: requests.Response) -> None:
    """A 503 has the envelope in the API, and the error page elsewhere."""
    if answer.headers["Content-Type"] == "application/json":
        body = answer.json()
        assert body == {"error": True, "msg": "Service temporarily unavailable", "data": {}}
    else:
        assert "Temporarily unavailable" in answer.text


def table_locked(trial: Trial) -> str:
    """ACCESS EXCLUSIVE on the table of requests, as a careless migration takes it."""
    service, seconds = trial.service, min(LOCKED, trial.scale.outage)
    known = service.machine().ask()
    blocked, others, over = Calls(), Calls(), threading.Event()
    waiting = [
        sender for number in range(BLOCKED // 4) for sender in needing_requests(trial, known)
    ]
    free = [without_requests(trial) for _ in range(OTHERS)]
    with (
        receiving() as receiver,
        service.database() as operator,
        ThreadPoolExecutor(BLOCKED + OTHERS) as pool,
    ):
        ended = told(service, receiver.url)
        wait_until(lambda: service.all_delivered([ended]), 30)
        before = count_requests(trial)
        operator.execute("LOCK TABLE reviews_request IN ACCESS EXCLUSIVE MODE")
        working = [pool.submit(blocked.repeat, send, over) for send in waiting]
        working += [pool.submit(others.repeat, send, over, PACE) for send in free]
        over.wait(seconds / 2)
        delivered = deliver_again(trial, ended, receiver)
        over.wait(max(0.0, seconds / 2 - delivered))
        over.set()
        for each in working:
            each.result()
    assert set(blocked.statuses) == {503}, set(blocked.statuses)
    assert set(others.statuses) == {200}, set(others.statuses)
    assert max(blocked.seconds + others.seconds) < IN_TIME
    assert count_requests(trial) == before
    service.machine().cancel(known)
    return (
        f"locked {seconds:.0f} s: {len(blocked.seconds)} calls of {BLOCKED} callers behind it got"
        f" 503, p99 {blocked.p99:.2f} s, slowest {max(blocked.seconds):.2f} s;"
        f" {len(others.seconds)} calls of {OTHERS} others got 200, p99 {others.p99:.2f} s, slowest"
        f" {max(others.seconds):.2f} s; a webhook that became due was received after"
        f" {delivered:.1f} s; none of the refused calls made a request"
    )


def deliver_again(trial: Trial, request_id: str, receiver: Receiver) -> float:
    """Makes an event due once more; returns the seconds until it has arrived."""
    known, begun = len(receiver.posts), time.monotonic()
    trial.service.rows(
        "UPDATE webhooks_delivery SET state = 'waiting', delivered_at = NULL,"
        " next_attempt_at = statement_timestamp() WHERE subject_id = %(id)s",
        id=request_id,
    )
    wait_until(lambda: len(receiver.posts) > known, IN_TIME)
    return time.monotonic() - begun


def needing_requests(trial: Trial, known: str) -> list[Send]:
    """Calls and pages that need the table."""
    machine, person = trial.service.machine(), trial.service.person()
    return [
        lambda: machine.call("GET", f"/requests/{known}"),
        trial.service.machine().post_question,
        lambda: person.get("/inbox/"),
        lambda: person.answer(known, "behind the lock"),
    ]


def without_requests(trial: Trial) -> Send:
    """A call that does not need it."""
    session, site = trial.service.machine().session, trial.service.stack.site
    return lambda: session.get(f"{site}/v1/test", timeout=PATIENCE)


def count_requests(trial: Trial) -> int:
    ((number,),) = trial.service.rows("SELECT count(*) FROM reviews_request")
    return int(number)
