"""PostgreSQL restarted and killed under load."""

import signal
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

import requests

from tests.faults.receiver import receiving
from tests.faults.trial import Trial
from tests.waiting import wait_until

CALLERS = 4
APPS = ("web", "worker", "beat")


@dataclass
class Load:
    """Callers who ask and cancel without a pause, and what they were told."""

    asked: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    told: Counter[str] = field(default_factory=Counter)
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


def postgres_restarted(trial: Trial) -> str:
    return interrupted(trial, signal.SIGINT)


def postgres_killed(trial: Trial) -> str:
    return interrupted(trial, signal.SIGKILL)


def interrupted(trial: Trial, number: int) -> str:
    """Nothing acknowledged is lost, and nobody has to restart anything."""
    service, load = trial.service, Load()
    before = {name: service.pids(name) for name in APPS}
    with receiving() as receiver:
        threads = [
            threading.Thread(target=load.run, args=[trial, receiver.url]) for _ in range(CALLERS)
        ]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(load.cancelled) >= 20, 30)
        service.kill("postgres", number)
        struck_at = time.monotonic()
        wait_until(lambda: any(told.startswith("503") for told in load.told), 30)
        so_far = len(load.cancelled)
        wait_until(lambda: len(load.cancelled) >= so_far + 20, 60)
        seconds = time.monotonic() - struck_at
        load.over.set()
        for thread in threads:
            thread.join(60)
        assert set(load.told) <= {
            "201 Request created and broadcasted successfully",
            "200 Request cancelled successfully",
            "400 Request cannot be cancelled in current state",  # it was, but nobody heard it
            "503 Service temporarily unavailable",
        }
        lost = kept_less_than_told(trial, load)
        assert not lost, lost
        wait_until(lambda: service.all_delivered(load.cancelled), service.lease + 60)
    after = {name: service.pids(name) for name in APPS}
    same = ", ".join(name for name in APPS if before[name] == after[name])
    refused = load.told["503 Service temporarily unavailable"]
    return (
        f"{len(load.asked)} requests and {len(load.cancelled)} cancellations acknowledged, none"
        f" lost; {refused} calls told 503; back in {seconds:.1f} s; never restarted: {same}"
    )


def kept_less_than_told(trial: Trial, load: Load) -> list[str]:
    """The ids that were acknowledged and are not there, or not cancelled."""
    found: dict[str, str] = dict(
        trial.service.rows(
            "SELECT id, status FROM reviews_request WHERE id = ANY(%(ids)s)", ids=load.asked
        )
    )
    missing = [request_id for request_id in load.asked if request_id not in found]
    return missing + [each for each in load.cancelled if found.get(each) != "cancelled"]
