"""Celery tasks that send due webhooks, and email accounts about hosts that fail."""

from celery import shared_task

from db import deliveries, pruning, sweeps, worker_status
from webhooks import event_log, retention
from webhooks.claim_sql import ANY_DUE
from webhooks.dispatch import DISPATCHER
from webhooks.expiry import expire
from webhooks.outage_emails import email_outages, forget_hosts


@shared_task(expires=2)
def deliver_due() -> int:
    """Sends due webhooks, and returns how many it claimed."""
    worker_status.record_heartbeat("deliver_due")
    if deliveries.are_on():  # else nothing had a chance
        expire()
    return DISPATCHER.run_due()


@shared_task(expires=20)
def watch_hosts() -> int:
    """Emails accounts about hosts that fail or have recovered; returns how many accounts."""
    if not deliveries.are_on():
        return 0
    forget_hosts()
    return email_outages()


@shared_task(expires=60)
def forget_events() -> int:
    """Removes events from the log that no stream can ask for any more; returns how many."""
    return pruning.run_batches(event_log.forget_old, batch=event_log.BATCH)


@shared_task(expires=60)
def prune_deliveries() -> int:
    """Removes deliveries and attempts that are no longer kept; returns how many."""
    return retention.prune(until=pruning.compute_end()) if deliveries.are_on() else 0


sweeps.register(deliver_due, due=ANY_DUE)
