"""Background tasks for accounts. They can run twice, even at the same time, without harm."""

from celery import shared_task

from accounts import sessions


@shared_task(expires=60)
def forget_sessions() -> int:
    """Removes expired sessions; returns how many."""
    total = removed = sessions.remove_expired()
    while removed == sessions.BATCH:
        removed = sessions.remove_expired()
        total += removed
    return total
