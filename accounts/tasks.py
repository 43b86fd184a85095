"""Background tasks for accounts. They can run twice, even at the same time, without harm."""

from celery import shared_task

from accounts import idempotency, retention, sessions, sign_in_codes
from db import deliveries, pruning


@shared_task(expires=60)
def forget_sessions() -> int:
    """Removes expired sessions; returns how many."""
    return pruning.run_batches(sessions.remove_expired, batch=sessions.BATCH)


@shared_task(expires=60)
def forget_responses() -> int:
    """Removes stored responses that are older than 24 hours; returns how many."""
    return pruning.run_batches(idempotency.forget_old, batch=idempotency.BATCH)


@shared_task(expires=60)
def forget_codes() -> int:
    """Removes sign-in codes that have ended; returns how many."""
    return pruning.run_batches(sign_in_codes.forget_old, batch=sign_in_codes.BATCH)


@shared_task(expires=60)
def prune_logs() -> int:
    """Removes usage and audit entries that are no longer kept; returns how many."""
    return retention.prune(until=pruning.compute_end()) if deliveries.are_on() else 0
