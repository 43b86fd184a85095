"""Background tasks for accounts. They can run twice, even at the same time, without harm."""

from collections.abc import Callable

from celery import shared_task

from accounts import idempotency, retention, sessions, sign_in_codes
from db import deliveries, pruning


@shared_task(expires=60)
def forget_sessions() -> int:
    """Removes expired sessions; returns how many."""
    return _repeat(sessions.remove_expired, sessions.BATCH)


@shared_task(expires=60)
def forget_responses() -> int:
    """Removes stored responses that are older than 24 hours; returns how many."""
    return _repeat(idempotency.forget_old, idempotency.BATCH)


@shared_task(expires=60)
def forget_codes() -> int:
    """Removes sign-in codes that have ended; returns how many."""
    return _repeat(sign_in_codes.forget_old, sign_in_codes.BATCH)


@shared_task(expires=60)
def prune_logs() -> int:
    """Removes usage and audit entries that are no longer kept; returns how many."""
    return retention.prune(until=pruning.start()) if deliveries.are_on() else 0


def _repeat(remove: Callable[[], int], batch: int) -> int:
    """Calls the function until it removes less than a batch; returns how many rows it removed."""
    total = removed = remove()
    while removed == batch:
        removed = remove()
        total += removed
    return total
