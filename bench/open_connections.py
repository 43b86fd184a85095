"""Measures what open connections cost: calls that wait, and streams of events."""

import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from bench import api
from bench.cast import Cast
from bench.memory import megabytes
from bench.outcome import Goal, Part, table
from bench.serving import Load, Web, get

ROUNDS, SECONDS = 4, 2.0
PAUSE = 0.02  # seconds between two endings
TIMEOUT = 30.0
Ask = Callable[[int, str], dict[str, str]]


@dataclass(frozen=True)
class Labels:
    """The words of the report for the connections, and for the time until they are notified."""

    part: str
    connections: str  # "calls that wait"
    short: str  # "waits"
    notified: str
    goal: str


class Trial:
    """Polls and memory, first without the connections and then beside them."""

    def __init__(self, web: Web, cast: Cast, load: Load) -> None:
        self._web, self._load, self._polls = web, load, api.calls(cast)["poll"]
        self._rate()  # warms up
        self.alone, self._before = self._rate(), self._memory()
        self.with_connections = self.grown = 0.0

    def measure_with_connections(self) -> None:
        """Measures while the connections are open."""
        self.with_connections, self.grown = self._rate(), self._memory() - self._before

    def report(self, count: int, labels: Labels, delays: list[float]) -> Part:
        """Builds the tables; `delays` are the seconds until the clients were notified, sorted."""
        p50, p99 = (delays[len(delays) * percent // 100] * 1000 for percent in (50, 99))
        rows = [
            ["polls alone", f"{self.alone:,.0f}/s"],
            [f"polls beside {count:,} {labels.connections}", f"{self.with_connections:,.0f}/s"],
            ["memory of the web processes", f"+{self.grown:.0f} MB"],
            [f"{labels.notified}, p50", f"{p50:.0f} ms"],
            ["p99", f"{p99:.0f} ms"],
        ]
        counted = f"{count:,} {labels.short}"
        ratio = self.with_connections / self.alone
        return Part(
            {labels.part: table(["", "measured"], rows)},
            [
                Goal(f"polls beside {counted} against polls alone", 0.9, None, ratio),
                Goal(f"memory of {counted}", 100, None, self.grown, " MB", at_most=True),
                Goal(f"{labels.goal}, p99", 200, None, p99, " ms", at_most=True),
            ],
        )

    def _rate(self) -> float:
        return statistics.median(
            self._load.fire(self._web.port, self._polls, seconds=SECONDS).rate
            for _ in range(ROUNDS)
        )

    def _memory(self) -> float:
        return sum(map(megabytes, self._web.workers()))


def cancel(ask: Ask, port: int, keys: Iterable[tuple[str, str]]) -> dict[str, float]:
    """Cancels requests, each with its key; returns when the cancel of each was sent."""
    sent = {}
    for request_id, key in keys:
        sent[request_id] = time.perf_counter()
        ask(port, get(f"/v1/api/requests/{request_id}", key).replace("GET", "DELETE", 1))
        time.sleep(PAUSE)
    return sent


def delays_of(sent: Mapping[str, float], known: Mapping[str, list[float]]) -> list[float]:
    """Returns the seconds until each client was notified, sorted."""
    return sorted(at - begun for pk, begun in sent.items() for at in known[pk])


def wait_for(condition: Callable[[], bool], problem: Callable[[], str]) -> None:
    """Waits until the condition holds. Raises RuntimeError."""
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(problem())
        time.sleep(0.05)
