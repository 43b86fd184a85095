"""Background work on accounts. Idempotent, and harmless when two run at once."""

from celery import shared_task

from accounts import sessions


@shared_task(expires=60)
def forget_sessions() -> int:
    """Removes sessions that have ended by themselves; returns how many."""
    total = done = sessions.remove_expired()
    while done == sessions.BATCH:
        done = sessions.remove_expired()
        total += done
    return total
