"""Measures deliveries of several workers at a time, to a receiver that takes 200 ms."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench import seed
from bench.outcome import Goal, Part, table
from bench.serving import cpu_of
from bench.webhooks import PAYLOAD, ids
from bench.webhooks import receiver as receiving
from local.apps import ROOT
from webhooks.emission import Event, enqueue
from webhooks.models import Delivery

SIZES = [(workers, threads) for threads in (16, 64) for workers in (1, 2, 4)]
LATENCY, SECONDS = 0.2, 8.0
ACCOUNTS, HOSTS = 16, 64  # a host gets four attempts of an account at a time
HEAD = [
    "workers × threads",
    "threads ÷ latency",
    "deliveries",
    "ratio",
    "CPU ms: worker + database",
]


def measure(postmaster: int) -> Part:
    """Returns a table, and the ratios as goals."""
    owners = [seed.account(number)[0].pk for number in range(ACCOUNTS)]
    rows, goals = [], []
    with receiving(round(LATENCY * 1000), HOSTS) as urls:
        for workers, threads in SIZES:
            ideal = workers * threads / LATENCY
            count = round(ideal * SECONDS)
            emit(owners, urls, count)
            found = deliver(workers, threads, postmaster)
            rate = count / found.seconds
            name = f"{workers} × {threads}"
            costs = f"{found.worker / count * 1000:.2f} + {found.database / count * 1000:.2f}"
            rows.append([name, f"{ideal:.0f}/s", f"{rate:.0f}/s", f"{rate / ideal:.2f}", costs])
            goals.append(Goal(f"webhooks at 200 ms, {name} threads", 0.9, 0.95, rate / ideal))
    return Part({"workers": table(HEAD, rows)}, goals)


def emit(owners: list[str], urls: list[str], count: int) -> None:
    """Makes `count` events due, spread over accounts and hosts."""
    pairs = [(owner, url) for url in urls for owner in owners]
    chosen = (pairs[number % len(pairs)] for number in range(count))
    enqueue([Event(owner, url, "bench", *ids(), PAYLOAD) for owner, url in chosen])


@dataclass(frozen=True)
class Run:
    """The seconds until everything was delivered, and those of CPU."""

    seconds: float
    worker: float
    database: float


def deliver(workers: int, threads: int, postmaster: int) -> Run:
    """Delivers everything with this number of workers."""
    with working(workers, threads) as processes:
        database, began = cpu_of(postmaster), time.monotonic()
        for each in processes:
            tell(each)
        while Delivery.objects.filter(state=Delivery.State.WAITING).exists():
            time.sleep(0.05)
        seconds, database = time.monotonic() - began, cpu_of(postmaster) - database
        for each in processes:
            tell(each)
        return Run(seconds, sum(float(hear(each)) for each in processes), database)


@contextmanager
def working(workers: int, threads: int) -> Iterator[list["subprocess.Popen[str]"]]:
    """Starts workers, which wait for a line of input."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "bench.delivering"],
            cwd=ROOT,
            env={**os.environ, "WEBHOOK_THREADS": str(threads)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(workers)
    ]
    try:
        for each in processes:
            hear(each)
        yield processes
    finally:
        for each in processes:
            each.communicate()


def tell(process: "subprocess.Popen[str]") -> None:
    """Writes a line to a worker."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def hear(process: "subprocess.Popen[str]") -> str:
    """Reads a line of a worker."""
    assert process.stdout is not None
    line: str = process.stdout.readline()
    return line
