"""What is measured of connections that stay open: calls that wait, and streams of events."""

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
PATIENCE = 30.0
Ask = Callable[[int, str], dict[str, str]]


@dataclass(frozen=True)
class Words:
    """What the report calls the connections and the time until they are told."""

    part: str
    beside: str  # "calls that wait"
    short: str  # "waits"
    told: str
    goal: str


class Trial:
    """Polls and memory, first without the connections and then beside them."""

    def __init__(self, web: Web, cast: Cast, load: Load) -> None:
        self._web, self._load, self._polls = web, load, api.calls(cast)["poll"]
        self._rate()  # warms up
        self.alone, self._before = self._rate(), self._memory()
        self.beside = self.grown = 0.0

    def look_beside(self) -> None:
        """Measures while the connections are open."""
        self.beside, self.grown = self._rate(), self._memory() - self._before

    def report(self, count: int, words: Words, delays: list[float]) -> Part:
        """`delays` are the seconds until those at the connections were told, sorted."""
        p50, p99 = (delays[len(delays) * percent // 100] * 1000 for percent in (50, 99))
        rows = [
            ["polls alone", f"{self.alone:,.0f}/s"],
            [f"polls beside {count:,} {words.beside}", f"{self.beside:,.0f}/s"],
            ["memory of the web processes", f"+{self.grown:.0f} MB"],
            [f"{words.told}, p50", f"{p50:.0f} ms"],
            ["p99", f"{p99:.0f} ms"],
        ]
        held = f"{count:,} {words.short}"
        ratio = self.beside / self.alone
        return Part(
            {words.part: table(["", "measured"], rows)},
            [
                Goal(f"polls beside {held} against polls alone", 0.9, None, ratio),
                Goal(f"memory of {held}", 100, None, self.grown, " MB", at_most=True),
                Goal(f"{words.goal}, p99", 200, None, p99, " ms", at_most=True),
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
    """The seconds until each that was told knew, sorted."""
    return sorted(at - begun for pk, begun in sent.items() for at in known[pk])


def wait_for(condition: Callable[[], bool], problem: Callable[[], str]) -> None:
    """Waits until the condition holds. Raises RuntimeError."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(problem())
        time.sleep(0.05)
