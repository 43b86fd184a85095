"""Celery tasks that send due webhooks, and email accounts about hosts that fail."""

from celery import shared_task

from db import worker_status
from webhooks.dispatch import DISPATCHER
from webhooks.expiry import expire
from webhooks.outage_emails import email_outages, forget_hosts


@shared_task(expires=2)
def deliver_due() -> int:
    """Sends due webhooks, and returns how many it claimed."""
    worker_status.record_heartbeat("deliver_due")
    expire()
    return DISPATCHER.run_due()


@shared_task(expires=20)
def watch_hosts() -> int:
    """Emails accounts about hosts that fail or have recovered; returns how many accounts."""
    forget_hosts()
    return email_outages()
