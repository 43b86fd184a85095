"""Processes that are stopped (SIGSTOP) and continue later, as on a machine that hangs."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.lock_faults import IN_TIME
from tests.faults.postgres_faults import Load, loaded, same_processes
from tests.faults.receiver import receiving
from tests.faults.redis_faults import CAUGHT_UP, SLOW, use_the_api
from tests.faults.service import Service
from tests.faults.trial import Trial
from tests.waiting import wait_until

PAUSE = 20.0  # seconds at most


def family(service: Service, name: str) -> list[int]:
    """The processes of this kind with all that they started."""
    found, left = list[int](), service.pids(name)
    while left:
        pid = left.pop()
        if pid not in found:
            found.append(pid)
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
            left += [int(each) for each in children.split()]
    return found


@contextmanager
def paused(service: Service, name: str) -> Iterator[None]:
    pids = family(service, name)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in reversed(pids):
            os.kill(pid, signal.SIGCONT)


def worker_paused(trial: Trial) -> str:
    return background_paused(trial, "worker")


def beat_paused(trial: Trial) -> str:
    return background_paused(trial, "beat")


def background_paused(trial: Trial, name: str) -> str:
    """Readers see every end in time, and events follow when the process goes on."""
    seconds = min(PAUSE, trial.scale.outage)
    before = same_processes(trial.service, {})
    with receiving() as receiver:
        with paused(trial.service, name):
            made, slowest = use_the_api(trial, receiver.url, seconds)
        returned_at = time.monotonic()
        wait_until(lambda: trial.service.all_delivered(made), CAUGHT_UP)
    assert slowest < SLOW
    same_processes(trial.service, before)
    return (
        f"paused {seconds:.0f} s: {len(made)} requests ended, slowest round of 5 calls"
        f" {slowest:.2f} s; all delivered {time.monotonic() - returned_at:.1f} s after it went on"
    )


def web_paused(trial: Trial) -> str:
    """Calls wait, and are answered when the server goes on."""
    seconds = min(PAUSE, trial.scale.outage)
    with receiving() as receiver, loaded(trial, receiver.url) as load:
        with paused(trial.service, "web"):
            told = len(load.seconds)
            load.over.wait(seconds)
            assert len(load.seconds) <= told + 4  # those under way when it stopped
        recovered = load.recovers()
    load.check(trial)
    return (
        f"paused {seconds:.0f} s: {load.summary()}; back {recovered:.1f} s after it went on;"
        " never restarted: web, worker, beat"
    )


def postgres_paused(trial: Trial) -> str:
    """No backend answers, and no new connection: calls get 503 in time."""
    seconds = min(PAUSE, trial.scale.outage)
    with receiving() as receiver, loaded(trial, receiver.url) as load:
        with paused(trial.service, "postgres"):
            load.over.wait(seconds)
        recovered = load.recovers()
    load.check(trial)
    assert slowest(load) < IN_TIME, f"{slowest(load):.1f} s, {load.summary()}"
    assert any(told.startswith("503") for told in load.told)
    return (
        f"paused {seconds:.0f} s: {load.summary()}; slowest answer {slowest(load):.1f} s; back"
        f" {recovered:.1f} s after it went on; never restarted: web, worker, beat"
    )


def slowest(load: Load) -> float:
    return max(load.seconds)
