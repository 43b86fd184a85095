"""Background work on the outbox."""

from celery import shared_task

from db import worker_status
from webhooks.dispatch import DISPATCHER
from webhooks.expiry import give_up


@shared_task(expires=2)
def deliver_due() -> int:
    """Delivers what is due; returns how many claims were made."""
    worker_status.beat("deliver_due")
    give_up()
    return DISPATCHER.run()
