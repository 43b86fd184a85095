"""Background work on the outbox."""

from celery import shared_task

from config import background
from webhooks.dispatch import DISPATCHER
from webhooks.giving_up import give_up


@shared_task(expires=2)
def deliver_due() -> int:
    """Delivers what is due; returns how many claims were made."""
    background.beat("deliver_due")
    give_up()
    return DISPATCHER.run()
