"""10,000 requests that are due in the same second, among many that are not."""

import statistics
import time
from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone

from bench import seed
from loops.models import Loop
from reviews import states, transitions
from webhooks.models import Delivery

DUE, WAITING, RUNS = 10_000, 100_000, 3


def run() -> str:
    """A table: seconds and rows per second with events and without, and the idle sweep."""
    _, loop = seed.account(0)
    later = timezone.now() + timedelta(days=1)
    seed.requests(loop, WAITING, timeout_at=later)
    lines = ["| sweep | result |", "|---|---|", f"| waiting beside | {WAITING:,} |"]
    for label, url in (("with events", "http://127.0.0.1:9/hook"), ("without", None)):
        taken = statistics.median(measure(loop, url) for _ in range(RUNS))
        lines.append(f"| {DUE:,} due, {label} | {taken:.2f} s, {DUE / taken:,.0f} rows/s |")
    idle = [timed(settle)[0] * 1000 for _ in range(200)]
    lines.append(f"| idle, median | {statistics.median(idle):.2f} ms |")
    return "\n".join(lines)


def measure(loop: Loop, url: str | None) -> float:
    """Seconds until the last of the due is settled, its event written."""
    seed.requests(loop, DUE, timeout_at=timezone.now() - timedelta(seconds=1), callback_url=url)
    before = Delivery.objects.count()
    taken, settled = timed(settle)
    assert settled == DUE
    assert Delivery.objects.count() - before == (DUE if url else 0)
    return taken


def settle() -> int:
    """What the worker's sweep does."""
    total = moved = len(transitions.move(states.TIME_OUT, transitions.DUE))
    while moved == transitions.BATCH:
        moved = len(transitions.move(states.TIME_OUT, transitions.DUE))
        total += moved
    return total


def timed(function: Callable[[], int]) -> tuple[float, int]:
    """Seconds, and what the function returned."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result
