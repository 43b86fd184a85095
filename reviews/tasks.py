"""Sweeps over requests. Idempotent, and harmless when two run at once."""

from collections.abc import Callable

from celery import shared_task

from db import worker_status
from reviews import counters
from reviews.lifecycle import states, transitions


@shared_task(expires=2)
def settle_overdue() -> int:
    """Times out what is overdue; returns how many."""
    return _sweep("settle_overdue", states.TIME_OUT)


@shared_task(expires=2)
def release_lapsed() -> int:
    """Gives back claims whose lease has run out; returns how many."""
    return _sweep("release_lapsed", states.LAPSE)


@shared_task(expires=2)
def fold_counters() -> int:
    """Sums up what changed in the numbers of requests; returns how many changes there were."""
    return _repeat("fold_counters", counters.fold, counters.FOLD_BATCH)


def _sweep(name: str, transition: states.Transition) -> int:
    due = transitions.due_in(transition)

    def step() -> int:
        return len(transitions.sweep(transition, due))

    return _repeat(name, step, transitions.BATCH)


def _repeat(name: str, step: Callable[[], int], batch: int) -> int:
    """Runs batches until one is not full, and leaves the sweep's heartbeat."""
    total = done = step()
    while done == batch:
        done = step()
        total += done
    worker_status.beat(name)
    return total
