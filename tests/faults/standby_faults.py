"""A synchronous standby that is away: pending commits are not visible yet, and not lost."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import requests

from tests.faults.service import Service
from tests.faults.trial import Trial
from tests.waiting import wait_until

AHEAD = 4.0  # seconds to the deadline, within which the answer has to arrive
BEHIND = 1.5  # seconds after it, in which readers look on


def standby_away(trial: Trial) -> str:
    """An answer in time whose commit waits past the deadline, and a request without an answer."""
    service, machine, person = trial.service, trial.service.machine(), trial.service.person()
    answered, late = machine.ask(), machine.ask()
    service.hasten([answered, late], AHEAD)
    replies: list[requests.Response] = []
    answering = threading.Thread(target=lambda: replies.append(person.answer(answered, "in time")))
    with without_standby(service):
        answering.start()
        wait_until(lambda: commits_wait(service))
        assert is_early(service, answered)
        wait_until(lambda: not is_early(service, answered))
        looks = look_on(trial, {answered: "pending", late: "timeout"})
        assert not replies
    answering.join()
    assert [reply.status_code for reply in replies] == [303]
    ends = [machine.read(each)["response_data"] for each in (answered, late)]
    assert ends == ["in time", "nobody"]
    return f"{looks} looks after the deadline, all pending; then the answer, and never another end"


def look_on(trial: Trial, expected: dict[str, str]) -> int:
    """Reads and lists for a while; how often each request was looked at."""
    machine, looks, begun = trial.service.machine(), 0, time.monotonic()
    while time.monotonic() < begun + BEHIND:
        looks += 3
        for request_id, status in expected.items():
            assert machine.read(request_id)["status"] == status
        for status in ("pending", "timeout"):
            answer = machine.call("GET", f"/requests?limit=100&status={status}").json()
            listed = {item["id"] for item in answer["data"]["requests"]}
            assert listed & set(expected) == {key for key in expected if expected[key] == status}
    return looks


@contextmanager
def without_standby(service: Service) -> Iterator[None]:
    """Commits that wait for the disk wait for a standby that is not there, too."""
    with service.database() as operator:
        operator.autocommit = True
        operator.execute("ALTER SYSTEM SET synchronous_standby_names = 'absent'")
        operator.execute("SELECT pg_reload_conf()")
        try:
            yield
        finally:
            operator.execute("ALTER SYSTEM RESET synchronous_standby_names")
            operator.execute("SELECT pg_reload_conf()")


def commits_wait(service: Service) -> bool:
    """Whether an answer waits for the standby. What the sweeps write may wait beside it."""
    waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'"
    return bool(service.rows(waiting))


def is_early(service: Service, request_id: str) -> bool:
    """Whether the deadline is still ahead."""
    early = "SELECT 1 FROM reviews_request WHERE id = %(id)s AND timeout_at > clock_timestamp()"
    return bool(service.rows(early, id=request_id))
