"""Measures sweeps of 10,000 requests that are due in the same second, among many that are not."""

import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from django.db import connection

from bench import seed
from bench.outcome import Goal, Part, table
from loops.models import Loop
from reviews.lifecycle.transitions import BATCH, time_out
from reviews.tasks import settle_overdue
from webhooks.models import Delivery

DUE, RUNS, SWEEPERS = 10_000, 3, 2  # beat sends two sweeps at a time
SWEPT_BEFORE = 12  # runs without due rows


def measure(beside: int) -> Part:
    """Measures sweeps among `beside` more pending requests that are not due."""
    _, loop = seed.account(0)
    seed.waiting(loop, beside, due_in=86_400)
    rows = []
    rates = {}
    longest = 0.0
    for label, url, sweepers in (
        ("with events, both sweeps", "http://127.0.0.1:9/hook", SWEEPERS),
        ("with events, one sweep", "http://127.0.0.1:9/hook", 1),
        ("without events, both sweeps", None, SWEEPERS),
    ):
        runs = [settle(loop, url, sweepers) for _ in range(RUNS)]
        taken = statistics.median(seconds for seconds, _ in runs)
        slowest = statistics.median(worst for _, worst in runs) * 1000
        longest = max(longest, slowest) if sweepers == SWEEPERS else longest
        rates[label] = DUE / taken
        rows.append([label, f"{taken:.2f} s", f"{DUE / taken:,.0f}", f"{slowest:.0f} ms"])
    idle = idle_milliseconds()
    rows.append(["nothing is due", f"{idle:.2f} ms", "", ""])
    head = [f"{DUE:,} due beside {beside:,}", "time", "rows/s", "longest batch"]
    return Part(
        {"sweep": table(head, rows)},
        [
            Goal("sweep with outbox, rows/s", 1_000, 3_000, rates["with events, both sweeps"]),
            Goal("sweep: the longest batch", 250, 150, longest, " ms", at_most=True),
            Goal("sweep that finds nothing", 2, 1, idle, " ms", at_most=True),
        ],
    )


def settle(loop: Loop, url: str | None, sweepers: int) -> tuple[float, float]:
    """Seconds until the last due request is settled and its event is written, and the
    seconds of the longest batch, which keeps its rows locked."""
    with ThreadPoolExecutor(sweepers) as pool:
        list(pool.map(connect, range(sweepers)))
        seed.waiting(loop, DUE, due_in=0, callback_url=url)
        before = Delivery.objects.count()
        start = time.perf_counter()
        swept = list(pool.map(sweep, range(sweepers)))
        taken = time.perf_counter() - start
        list(pool.map(disconnect, range(sweepers)))
    assert sum(settled for settled, _ in swept) == DUE
    assert Delivery.objects.count() - before == (DUE if url else 0)
    return taken, max(longest for _, longest in swept)


def sweep(_number: int) -> tuple[int, float]:
    """Settles batches until one is not full; returns how many, and the longest in seconds."""
    settled, longest, batch = 0, 0.0, BATCH
    while batch == BATCH:
        with timed() as stop:
            batch = time_out()
        settled, longest = settled + batch, max(longest, stop())
    return settled, longest


def connect(_number: int) -> None:
    """Opens the thread's connection: workers sweep every second on the same one."""
    for _ in range(SWEPT_BEFORE):
        settle_overdue()
    time.sleep(0.05)  # so that every thread takes one


def disconnect(_number: int) -> None:
    connection.close()
    time.sleep(0.05)


def idle_milliseconds() -> float:
    """The milliseconds of a sweep that finds nothing."""
    taken = []
    for _ in range(200):
        with timed() as stop:
            settle_overdue()
        taken.append(stop())
    return statistics.median(taken) * 1000


@contextmanager
def timed() -> Iterator[Callable[[], float]]:
    """Passes the seconds of the block to a function."""
    start = time.perf_counter()
    end = start
    yield lambda: end - start
    end = time.perf_counter()
