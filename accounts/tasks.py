"""Background tasks for accounts. They can run twice, even at the same time, without harm."""

from celery import shared_task

from accounts import idempotency, retention, sessions
from db import deliveries, pruning


@shared_task(expires=60)
def forget_sessions() -> int:
    """Removes expired sessions; returns how many."""
    total = removed = sessions.remove_expired()
    while removed == sessions.BATCH:
        removed = sessions.remove_expired()
        total += removed
    return total


@shared_task(expires=60)
def forget_responses() -> int:
    """Removes stored responses that are older than 24 hours; returns how many."""
    total = removed = idempotency.forget_old()
    while removed == idempotency.BATCH:
        removed = idempotency.forget_old()
        total += removed
    return total


@shared_task(expires=60)
def prune_logs() -> int:
    """Removes usage and audit entries that are no longer kept; returns how many."""
    return retention.prune(until=pruning.start()) if deliveries.are_on() else 0
