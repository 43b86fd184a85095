"""Celery tasks that sweep requests. They are idempotent and may run in parallel."""

import threading
from collections import defaultdict
from collections.abc import Callable

from celery import shared_task

from db import deliveries, pruning, sweeps, worker_status
from reviews import counters, erasing, retention
from reviews.lifecycle import conditions, transitions

RUNS = 2
"""Runs of one sweep at a time in a process: a locked table must not occupy all its threads."""
_places: dict[str, threading.Semaphore] = defaultdict(lambda: threading.BoundedSemaphore(RUNS))


@shared_task(expires=2)
def settle_overdue() -> int:
    """Times out overdue requests; returns how many."""
    return _run_batches("settle_overdue", transitions.time_out, transitions.BATCH)


@shared_task(expires=2)
def release_lapsed() -> int:
    """Releases claims whose lease has expired; returns how many."""
    return _run_batches("release_lapsed", transitions.lapse, transitions.BATCH)


@shared_task(expires=2)
def fold_counters() -> int:
    """Adds the changes to the counters of requests; returns how many changes."""
    return _run_batches("fold_counters", counters.aggregate, counters.AGGREGATE_BATCH)


@shared_task(expires=60)
def prune_requests() -> int:
    """Removes requests and texts after their retention time; returns the number of requests.

    Does nothing while deliveries are off: a restored copy keeps its data for inspection.
    """
    return retention.prune(until=pruning.compute_end()) if deliveries.are_on() else 0


@shared_task(expires=60)
def finish_erasing() -> int:
    """Removes the rest of people who are being erased; returns how many are done."""
    return erasing.finish_all(until=pruning.compute_end())


def _run_batches(name: str, run_batch: Callable[[], int], batch: int) -> int:
    """Runs batches until one is not full, then records the task's heartbeat.

    Does nothing while RUNS others run in this process.
    """
    if not _places[name].acquire(blocking=False):
        return 0
    try:
        total = pruning.run_batches(run_batch, batch=batch)
    finally:
        _places[name].release()
    worker_status.record_heartbeat(name)
    return total


def _any_request(condition: str) -> str:
    return f"EXISTS (SELECT FROM reviews_request r WHERE {condition})"


# Two tasks share thousands of due requests.
sweeps.register(settle_overdue, due=_any_request(conditions.overdue()), runs=2)
sweeps.register(release_lapsed, due=_any_request(conditions.lapsed()))
sweeps.register(fold_counters, due=counters.ANY_CHANGE)
