"""Celery task that sends queued emails; it may run twice at once."""

from celery import shared_task

from db import sweeps, worker_status
from mailing.channel import CHANNEL, DISPATCHER
from outbox.claiming import any_due


@shared_task(expires=2)
def send_queued() -> int:
    """Sends due emails, and returns how many it claimed."""
    worker_status.record_heartbeat("send_queued")
    return DISPATCHER.run_due()


sweeps.register(send_queued, due=any_due(CHANNEL))
