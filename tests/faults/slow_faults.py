"""Hundreds of clients that send too slowly, beside callers who do not."""

import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import requests

from tests.faults.slow_clients import slow_clients
from tests.faults.trial import REAL, Trial

SLOW = 400
CALLERS = 4
PATIENCE = 12.0  # seconds after which the first of the slow clients must have got their 408
LIMIT = 1.0  # seconds, for 99 of 100 calls


def many_slow_clients(trial: Trial) -> str:
    seconds = trial.scale.outage / 3
    alone = latencies(trial, seconds / 4)
    with slow_clients(trial.service.stack.port, SLOW) as slow:
        beside = latencies(trial, seconds)
        ends = slow.ends
    limit = LIMIT if trial.scale is REAL else trial.scale.late
    assert percentile(beside, 99) < limit, f"{percentile(beside, 99):.2f} s"
    if seconds > PATIENCE:
        assert ends["408"] >= SLOW / 2
        assert set(ends) <= {"408", "closed"}
    return (
        f"{len(beside)} calls beside {SLOW} slow connections: p50 {statistics.median(beside):.3f},"
        f" p99 {percentile(beside, 99):.3f} s (alone {percentile(alone, 99):.3f} s);"
        f" {ends['408']} of the slow ones were told 408"
    )


def latencies(trial: Trial, seconds: float) -> list[float]:
    """The seconds that each call of some callers took, one after the other."""
    until = time.monotonic() + seconds
    with ThreadPoolExecutor(CALLERS) as pool:
        found = pool.map(lambda number: call_until(trial, number, until), range(CALLERS))
        return [each for some in found for each in some]


def call_until(trial: Trial, number: int, until: float) -> list[float]:
    """Creates, reads and probes in turn, on new connections and on kept ones."""
    machine, site = trial.service.machine(), trial.service.stack.site
    request_id = machine.ask()
    calls: tuple[Callable[[], object], ...] = (
        lambda: machine.read(request_id),
        machine.ask,
        lambda: requests.get(f"{site}/healthz", timeout=30).raise_for_status(),
        lambda: check_ready(site),
    )
    found = []
    pause = threading.Event()
    while time.monotonic() < until:
        for call in calls[number:] + calls[:number]:
            begun = time.monotonic()
            call()
            found.append(time.monotonic() - begun)
        pause.wait(0.02)
    return found


def check_ready(site: str) -> None:
    response = requests.get(f"{site}/readyz", timeout=30)
    assert response.status_code == 200, response.text


def percentile(values: list[float], percent: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]
