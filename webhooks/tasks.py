"""Celery task that sends due webhooks."""

from celery import shared_task

from db import worker_status
from webhooks.dispatch import DISPATCHER
from webhooks.expiry import expire


@shared_task(expires=2)
def deliver_due() -> int:
    """Sends due webhooks, and returns how many it claimed."""
    worker_status.record_heartbeat("deliver_due")
    expire()
    return DISPATCHER.run_due()
