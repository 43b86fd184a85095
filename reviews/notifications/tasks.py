"""Background work: what is still to be told. Idempotent, and harmless when two run at once."""

from celery import shared_task

from db import worker_status
from reviews.notifications import outbox
from reviews.notifications.dispatch import SENDER
from reviews.notifications.mails import MAILER


@shared_task(expires=2)
def push_due() -> int:
    """Sends pushes that are due; returns how many were claimed."""
    worker_status.beat("push_due")
    return SENDER.run()


@shared_task(expires=2)
def mail_due() -> int:
    """Sends e-mails that are due; returns to how many people."""
    worker_status.beat("mail_due")
    return MAILER.run()


@shared_task(expires=60)
def forget_old() -> int:
    """Removes notifications that were done some days ago; returns how many."""
    return outbox.remove_old()
