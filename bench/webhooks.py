"""Compares a worker's deliveries per second with plain `requests` in a pool of the same size."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import requests
from django.conf import settings

from bench import seed
from db.columns import dumps
from db.ids import new_id
from webhooks.channel import DISPATCHER
from webhooks.emission import Event, enqueue
from webhooks.models import Delivery

RUNS = 3
ACCOUNTS = 4  # a single account gets half of the threads
PAYLOAD = {"event": "request.completed", "data": {"request": {"request_text": "x" * 1500}}}


def run() -> str:
    """Returns a table: both rates with a 0 ms and a 200 ms receiver, and their ratio."""
    lines = ["| receiver | bare requests | deliveries | ratio |", "|---|---|---|---|"]
    for milliseconds, count in ((0, 2000), (200, 600)):
        with receiver(milliseconds) as urls:
            pairs = [(bare(urls, count), delivered(urls, count)) for _ in range(RUNS)]
        base = statistics.median(pair[0] for pair in pairs)
        ours = statistics.median(pair[1] for pair in pairs)
        ratio = statistics.median(pair[1] / pair[0] for pair in pairs)
        lines.append(
            f"| {milliseconds} ms, {len(urls)} hosts | {base:.0f}/s | {ours:.0f}/s | {ratio:.2f} |"
        )
        if milliseconds:
            ideal = settings.WEBHOOK_THREADS * 1000 / milliseconds
            lines.append(f"| threads ÷ latency | {ideal:.0f}/s | | {ours / ideal:.2f} |")
    return "\n".join(lines)


@contextmanager
def receiver(milliseconds: int, hosts: int = 0) -> Iterator[list[str]]:
    """Starts a receiver on as many hosts as threads: a host gets only a few attempts at a time."""
    hosts = hosts or settings.WEBHOOK_THREADS
    command = [sys.executable, "-m", "bench.receiver", str(milliseconds), str(hosts)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        try:
            yield [f"http://127.0.0.{number}:{port}/" for number in range(1, hosts + 1)]
        finally:
            process.terminate()


def bare(urls: list[str], count: int) -> float:
    """Posts per second without any of our code."""
    body = dumps(PAYLOAD).encode()
    start = time.perf_counter()
    with ThreadPoolExecutor(settings.WEBHOOK_THREADS) as pool:
        chosen = (urls[number % len(urls)] for number in range(count))
        statuses = list(pool.map(lambda url: requests.post(url, body, timeout=15), chosen))
    assert all(response.status_code == 204 for response in statuses)
    return count / (time.perf_counter() - start)


def delivered(urls: list[str], count: int) -> float:
    """Deliveries per second of a few accounts: claimed, signed, posted, recorded."""
    owners = [seed.account(number)[0].pk for number in range(ACCOUNTS)]
    enqueue(
        [
            Event(owners[place % ACCOUNTS], urls[place % len(urls)], "bench", *ids(), PAYLOAD)
            for place in range(count)
        ]
    )
    start = time.perf_counter()
    DISPATCHER.run_due()
    taken = time.perf_counter() - start
    ours = Delivery.objects.filter(account_id__in=owners, state=Delivery.State.DELIVERED)
    assert ours.count() == count
    return count / taken


def ids() -> tuple[str, str]:
    """The ids of a subject and of its occurrence."""
    return new_id(), new_id()
