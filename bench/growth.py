"""Measures pruning of old requests: its speed, and its cost for calls."""

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection
from django.test.utils import override_settings

from accounts.quota import Account
from bench import seed
from bench.outcome import Goal, Part, table
from bench.sweep import timed
from loops.models import Loop
from reviews import retention, services
from reviews.models import Request
from reviews.queries import single_read
from webhooks.models import Delivery

SECONDS = 2.0  # of pruning alone, and of pruning during calls; less than all due rows take
FIELDS: dict[str, Any] = {
    "processing_type": "deferred", "type": "markdown", "priority": "high",
    "request_text": "Refund order 4821?", "response_type": "single_select",
    "response_config": {"options": ["yes", "no"]}, "default_response": "no", "platform": "api",
}  # fmt: skip


def measure(count: int) -> Part:
    """Measures with `count` requests over 90 days, of which those of the last 30 are kept."""
    owner, loop = seed.account(0)
    seed.mixed([loop], count)
    seed.deliveries(loop, count)
    Delivery.objects.filter(state="waiting").update(state="dead")  # no request waits for a month
    sample = str(Request.objects.filter(loop=loop).order_by("-created_at").values_list("pk")[0][0])
    quiet = call_beside(owner.pk, loop, sample)
    with override_settings(KEEP_REQUESTS_DAYS=30):
        alone = prune()
        with ThreadPoolExecutor(1) as pool:
            calls = pool.submit(call_beside, owner.pk, loop, sample)
            beside = prune()
            read, create = calls.result()
            pool.submit(connection.close)
    head = [f"of {count:,} requests with their deliveries", "requests/s", "read", "create"]
    lines = [
        ["no pruning", "", f"{quiet[0]:.2f} ms", f"{quiet[1]:.2f} ms"],
        ["pruning in batches of 500", f"{alone:,.0f}", "", ""],
        ["the same, beside calls", f"{beside:,.0f}", f"{read:.2f} ms", f"{create:.2f} ms"],
    ]
    return Part(
        {"growth": table(head, lines)},
        [Goal("pruning beside calls, requests/s", 400, None, beside)],
    )


def prune() -> float:
    """Prunes for a while; returns requests per second."""
    with timed() as stop:
        removed = retention.prune(until=time.monotonic() + SECONDS)
    return removed / stop()


def call_beside(account_id: str, loop: Loop, sample: str) -> tuple[float, float]:
    """The median milliseconds of a single read and of a create."""
    who = Account(id=account_id, email="", name="", is_active=True)
    reads, creates = [], []
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with timed() as stop:
            single_read.read(sample, user_id=account_id)
        reads.append(stop())
        with timed() as stop:
            services.create_request(loop_id=loop.pk, account=who, fields=FIELDS)
        creates.append(stop())
    return statistics.median(reads) * 1000, statistics.median(creates) * 1000
