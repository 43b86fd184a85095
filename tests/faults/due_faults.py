"""Ten thousand requests due at once, and only readers to settle them."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import requests

from tests.faults.service import Service
from tests.faults.trial import Trial
from tests.waiting import wait_until

COUNT = 10_000
READERS = 3
SLOWEST = 5.0  # seconds of a list that settles them all, with its two cores for itself: 2 to 3
COPIES = """
INSERT INTO reviews_request (id, loop_id, creator_id, processing_type, type, priority, request_text,
       timeout_seconds, response_type, response_config, default_response, platform, status,
       timeout_at, claim_count, broadcasted_to, notifications_sent, created_at, updated_at)
SELECT left(md5(n::text || id), 21) || right(creator_id, 3), loop_id, creator_id,
       processing_type, type, priority, 'Due with many others.', timeout_seconds, response_type,
       response_config, default_response, platform, 'pending',
       statement_timestamp() + interval '1 hour', 0, 1, 0, created_at, updated_at
  FROM reviews_request, generate_series(1, %(count)s) AS n WHERE id = %(id)s
"""
PASS = """
UPDATE reviews_request SET timeout_at = statement_timestamp()
 WHERE request_text = 'Due with many others.'
"""
ENDED = """
SELECT count(*) FILTER (WHERE status = 'timeout') FROM reviews_request
 WHERE request_text = 'Due with many others.'
"""


def many_at_once(trial: Trial) -> str:
    """First three readers settle them all, then a web process is killed while it settles more."""
    service = trial.service
    with no_ticks(service):
        longest, _ = settle_by_reading(trial)
        assert longest < SLOWEST, longest
        _, settled = settle_by_reading(trial, kill=True)
    return (
        f"every list right, the longest took {longest:.2f} s; the process was killed when"
        f" {settled} of as many were settled, and the next list was right"
    )


def settle_by_reading(trial: Trial, *, kill: bool = False) -> tuple[float, int]:
    """The seconds of the slowest list, and how many had ended when the process was killed."""
    service, first = trial.service, trial.service.machine().ask()
    before, settled = total(service, "timeout"), 0
    service.rows(COPIES, id=first, count=COUNT)
    service.rows("ANALYZE reviews_request")
    ended_before = ended(service)
    service.rows(PASS + "AND status = 'pending'")
    took, wrong = list[float](), list[float]()
    readers = [threading.Thread(target=read, args=[service, took, wrong]) for _ in range(READERS)]
    for reader in readers:
        reader.start()
    if kill:
        wait_until(lambda: ended(service) > ended_before)
        service.killed("web")
        settled = ended(service) - ended_before
    for reader in readers:
        reader.join()
    wait_until(lambda: is_up(service), 60)
    assert total(service, "timeout") >= before + COUNT  # others may be due as well
    assert ended(service) == ended_before + COUNT
    assert not wrong
    return max(took, default=0.0), settled


def read(service: Service, took: list[float], wrong: list[float]) -> None:
    """One list of what is pending: behind the deadline there is none of the many."""
    begun = time.monotonic()
    try:
        answer = service.machine().call("GET", "/requests?limit=100&status=pending")
    except requests.ConnectionError:  # killed
        return
    took.append(time.monotonic() - begun)
    texts = [item["request_text"] for item in answer.json()["data"]["requests"]]
    if "Due with many others." in texts:
        wrong.append(begun)


def total(service: Service, status: str) -> int:
    answer = service.machine().call("GET", f"/requests?status={status}")
    return int(answer.json()["data"]["total"])


def ended(service: Service) -> int:
    ((count,),) = service.rows(ENDED)
    return int(count)


def is_up(service: Service) -> bool:
    try:
        return service.machine().call("GET", "/requests?limit=1").status_code == 200
    except requests.ConnectionError:
        return False


@contextmanager
def no_ticks(service: Service) -> Iterator[None]:
    """Beat and worker are stopped, and revived by nobody."""
    pids = [pid for name in ("beat", "worker") for pid in service.pids(name)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
