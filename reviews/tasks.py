"""Sweeps over requests. Idempotent, and harmless when two run at once."""

from celery import shared_task

from config import background
from reviews import states, transitions


@shared_task(expires=2)
def settle_overdue() -> int:
    """Times out what is overdue; returns how many."""
    return _sweep("settle_overdue", states.TIME_OUT, transitions.DUE)


@shared_task(expires=2)
def release_lapsed() -> int:
    """Gives back claims whose lease has run out; returns how many."""
    return _sweep("release_lapsed", states.LAPSE, transitions.RUN_OUT)


def _sweep(name: str, transition: states.Transition, which: str) -> int:
    total = moved = len(transitions.move(transition, which))
    while moved == transitions.BATCH:
        moved = len(transitions.move(transition, which))
        total += moved
    background.beat(name)
    return total
