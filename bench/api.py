"""Compares polls, creates and lists with the floor, alternately on the same server and database."""

import itertools
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from bench.cast import Cast
from bench.outcome import Goal, table
from bench.serving import Load, Volley, Web, cpu_of, get, post

ROUNDS, SECONDS = 8, 2.0
FULL = 4  # accounts that fill a page of 50 from the beginning
BODY = {
    "processing_type": "deferred",
    "type": "markdown",
    "priority": "high",
    "request_text": "Should we refund order 4821? The parcel arrived broken. " * 4,
    "context": {"order": 4821, "customer": {"since": 2019, "claims": [1, 2, 3]}},
    "response_type": "single_select",
    "response_config": {
        "options": [{"value": "yes", "label": "Yes"}, {"value": "no", "label": "No"}]
    },
    "default_response": "no",
    "platform": "api",
}


@dataclass(frozen=True)
class Turn:
    """One volley, with the CPU of the web server and of the database in milliseconds per call."""

    volley: Volley
    web: float
    database: float


@dataclass(frozen=True)
class Measured:
    """The medians of one side's rounds."""

    rate: float
    p50: float
    p95: float
    p99: float
    web: float
    database: float

    @classmethod
    def of(cls, turns: list[Turn]) -> "Measured":
        middle = statistics.median
        return cls(
            rate=middle(turn.volley.rate for turn in turns),
            p50=middle(turn.volley.p50 for turn in turns),
            p95=middle(turn.volley.p95 for turn in turns),
            p99=middle(turn.volley.p99 for turn in turns),
            web=middle(turn.web for turn in turns),
            database=middle(turn.database for turn in turns),
        )


@dataclass(frozen=True)
class Comparison:
    """A call on the floor and on the service; `ratio` is the median of the rounds' ratios."""

    name: str
    floor: Measured
    service: Measured
    ratio: float

    @property
    def by_cpu(self) -> float:
        """Returns the same ratio by CPU per call."""
        return (self.floor.web + self.floor.database) / (self.service.web + self.service.database)


def calls(cast: Cast) -> dict[str, list[str]]:
    """The three calls, with many keys. Creates come last, because they change the data."""
    owned = [
        (key, number) for number, keys in enumerate(cast.keys) for key in keys
    ]  # (key, its account)
    polls = [
        get(f"/v1/api/requests/{request_id}", key)
        for key, number in owned
        for request_id in cast.polls[number][:20]
    ]
    return {
        "poll": polls[::7] + polls[::11] + polls[::13],
        "list": [get("/v1/api/requests", key) for keys in cast.keys[:FULL] for key in keys],
        "create": [
            post(f"/v1/api/loops/{cast.loops[number]}/requests", key, BODY) for key, number in owned
        ],
    }


def compare(
    name: str, requests: list[str], floor: Web, service: Web, load: Load, postmaster: int
) -> Comparison:
    """Measures both sides alternately, with alternating order."""

    def turn(side: Web) -> Turn:
        web, database = side.cpu(), cpu_of(postmaster)
        volley = load.fire(side.port, requests, seconds=SECONDS)
        each = 1000 / volley.calls
        return Turn(volley, (side.cpu() - web) * each, (cpu_of(postmaster) - database) * each)

    for side in (floor, service):
        load.fire(side.port, requests, seconds=1.0)
    sides: dict[str, Callable[[], Turn]] = {
        "floor": lambda: turn(floor),
        "service": lambda: turn(service),
    }
    turns: dict[str, list[Turn]] = {"floor": [], "service": []}
    for _, order in zip(
        range(ROUNDS), itertools.cycle((("floor", "service"), ("service", "floor"))), strict=False
    ):
        for side_name in order:
            turns[side_name].append(sides[side_name]())
    pairs = zip(turns["floor"], turns["service"], strict=True)
    ratio = statistics.median(ours.volley.rate / least.volley.rate for least, ours in pairs)
    return Comparison(name, Measured.of(turns["floor"]), Measured.of(turns["service"]), ratio)


GOALS = {
    "poll": ("poll against the floor", 0.65, 0.8),
    "create": ("create against the floor", 0.6, 0.75),
    "list": ("list of 50 with total against the floor without counting", 0.6, 0.8),
}


def goals(comparisons: list[Comparison]) -> list[Goal]:
    return [Goal(*GOALS[each.name], each.ratio) for each in comparisons]


def table_of(comparisons: list[Comparison]) -> str:
    head = ["call", "side", "req/s", "p50 / p95 / p99 ms", "CPU ms per call: web + database"]
    rows = []
    for each in comparisons:
        for name, side in (("floor", each.floor), ("service", each.service)):
            ratios = [f"{each.ratio:.2f}", f"{each.by_cpu:.2f}"] if name == "service" else ["", ""]
            times = f"{side.p50:.1f} / {side.p95:.1f} / {side.p99:.1f}"
            cpu = f"{side.web:.2f} + {side.database:.2f}"
            rows.append([each.name, name, f"{side.rate:,.0f}", times, cpu, *ratios])
    return table([*head, "ratio", "by CPU"], rows)


def profile_of(parts: dict[str, float], polls: Measured) -> str:
    """Formats `parts`, in microseconds; the rest of the process's CPU is the web server's."""
    rest = {"web server, threads, sockets": polls.web * 1000 - sum(parts.values())}
    context = {**parts, **rest, "PostgreSQL's own processes": polls.database * 1000}
    whole = sum(context.values())
    rows = [
        [part, f"{each:.0f}", f"{each / whole:.0%}"]
        for part, each in sorted(context.items(), key=lambda pair: -pair[1])
    ]
    return table(["part of a poll", "µs of CPU", "share"], rows)
