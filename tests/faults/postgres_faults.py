"""PostgreSQL restarted, killed, slow and full under load."""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import psycopg
import requests

from tests.faults.receiver import receiving
from tests.faults.service import Service
from tests.faults.standby_faults import without_standby
from tests.faults.trial import Trial
from tests.waiting import wait_until

CALLERS = 4
APPS = ("web", "worker", "beat")
IN_TIME = 10.0  # seconds for every answer
SENTENCES = {
    "201 Request created and broadcasted successfully",
    "200 Request cancelled successfully",
    "400 Request cannot be cancelled in current state",  # it was, but nobody heard it
    "503 Service temporarily unavailable",
}


@dataclass
class Load:
    """Callers who ask and cancel without a pause, what they were told, and after how long."""

    asked: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    told: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def run(self, trial: Trial, callback_url: str) -> None:
        machine = trial.service.machine()
        while not self.over.is_set():
            answer = machine.post_question(callback_url=callback_url)
            self.count(answer)
            if answer.status_code != 201:
                self.over.wait(0.05)
                continue
            request_id = answer.json()["data"]["request_id"]
            self.asked.append(request_id)
            answer = machine.call("DELETE", f"/requests/{request_id}")
            self.count(answer)
            if answer.status_code == 200:
                self.cancelled.append(request_id)

    def count(self, response: requests.Response) -> None:
        body = response.json()
        assert set(body) == {"error", "msg", "data"}
        self.told[f"{response.status_code} {body['msg']}"] += 1
        self.seconds.append(response.elapsed.total_seconds())

    def recovers(self) -> float:
        """Waits until calls succeed again; returns the seconds that it took."""
        begun, so_far = time.monotonic(), len(self.cancelled)
        wait_until(lambda: len(self.cancelled) >= so_far + 20, 60)
        return time.monotonic() - begun

    def check(self, trial: Trial) -> None:
        """Nothing acknowledged is lost, and every event arrives."""
        assert set(self.told) <= SENTENCES, (self.told, web_log(trial))
        lost = kept_less_than_told(trial, self)
        assert not lost, lost

    def summary(self) -> str:
        return (
            f"{len(self.asked)} requests and {len(self.cancelled)} cancellations acknowledged,"
            f" none lost; {self.told['503 Service temporarily unavailable']} calls told 503"
        )


@contextmanager
def loaded(trial: Trial, callback_url: str) -> Iterator[Load]:
    """Callers at work for the length of the block. Afterwards every event is delivered, and the
    processes of the service are the same as before."""
    load, before = Load(), same_processes(trial.service, {})
    threads = [
        threading.Thread(target=load.run, args=[trial, callback_url]) for _ in range(CALLERS)
    ]
    for thread in threads:
        thread.start()
    try:
        wait_until(lambda: len(load.cancelled) >= 20, 30)
        yield load
    finally:
        load.over.set()
        for thread in threads:
            thread.join(60)
    wait_until(lambda: trial.service.all_delivered(load.cancelled), trial.service.lease + 60)
    same_processes(trial.service, before)


def same_processes(service: Service, before: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """The web, worker and beat processes, which must be those of `before` if it names any."""
    now = {name: service.pids(name) for name in APPS}
    assert not before or now == before, f"restarted: {before} became {now}"
    return now


def web_log(trial: Trial) -> str:
    """Returns what the web server has logged last, but for what a fault explains."""
    lines = trial.service.stack.output().splitlines()
    expected = ("Service Unavailable", "api.database_unreachable", "Is the server running")
    of_web = [line for line in lines if line.startswith("web")]
    return "\n".join([line for line in of_web if not any(e in line for e in expected)][-150:])


def postgres_restarted(trial: Trial) -> str:
    return interrupted(trial, signal.SIGINT)


def postgres_killed(trial: Trial) -> str:
    return interrupted(trial, signal.SIGKILL)


def interrupted(trial: Trial, number: int) -> str:
    """Nothing acknowledged is lost, and nobody has to restart anything."""
    with receiving() as receiver, loaded(trial, receiver.url) as load:
        trial.service.kill("postgres", number)
        struck_at = time.monotonic()
        wait_until(lambda: any(told.startswith("503") for told in load.told), 30)
        load.recovers()
        seconds = time.monotonic() - struck_at
    load.check(trial)
    return f"{load.summary()}; back in {seconds:.1f} s; never restarted: {', '.join(APPS)}"


def slow_commits(trial: Trial) -> str:
    """A replica that must confirm is away: for two seconds at a time, then for too long."""
    with receiving() as receiver, loaded(trial, receiver.url) as load:
        for seconds in (2, 2, 2, 12):
            with without_standby(trial.service):
                load.over.wait(seconds)
            load.recovers()
    load.check(trial)
    assert max(load.seconds) < IN_TIME
    return f"{load.summary()}; slowest answer {max(load.seconds):.1f} s"


def no_connections_left(trial: Trial) -> str:
    """Somebody else takes every connection, after those of the service were ended."""
    seconds = trial.scale.outage / 2
    with receiving() as receiver, loaded(trial, receiver.url) as load:
        with ExitStack() as taken:
            number = take_connections(trial.service, taken)
            wait_until(lambda: any(told.startswith("503") for told in load.told), 30)
            load.over.wait(seconds)
        recovered = load.recovers()
    load.check(trial)
    assert max(load.seconds) < IN_TIME
    return (
        f"{number} connections taken for {seconds:.0f} s: {load.summary()}; slowest answer"
        f" {max(load.seconds):.1f} s; back {recovered:.1f} s after they were given back"
    )


def take_connections(service: Service, taken: ExitStack) -> int:
    """Ends the connections of the service, which is stopped for a moment, and takes every place.

    Returns how many there are.
    """
    operator = taken.enter_context(service.database())
    operator.autocommit = True
    number = 1
    pids = [pid for name in APPS for pid in service.pids(name)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)  # or it would connect again before we do
    try:
        operator.execute(_END_OTHERS)
        while True:
            try:
                taken.enter_context(service.database())
                number += 1
            except psycopg.OperationalError:
                return number
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


_END_OTHERS = """
SELECT count(pg_terminate_backend(pid, 1000)) FROM pg_stat_activity
 WHERE application_name = 'reviewloop'
"""


def kept_less_than_told(trial: Trial, load: Load) -> list[str]:
    """The ids that were acknowledged and are not there, or not cancelled."""
    found: dict[str, str] = dict(
        trial.service.rows(
            "SELECT id, status FROM reviews_request WHERE id = ANY(%(ids)s)", ids=load.asked
        )
    )
    missing = [request_id for request_id in load.asked if request_id not in found]
    return missing + [each for each in load.cancelled if found.get(each) != "cancelled"]
