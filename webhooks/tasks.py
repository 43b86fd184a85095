"""Celery tasks that send due webhooks, and email accounts about hosts that fail."""

from celery import shared_task

from db import deliveries, pruning, sweeps, worker_status
from outbox.claiming import any_due
from webhooks import event_log, retention
from webhooks.channel import DISPATCHER, TEST, TESTS, WEBHOOK
from webhooks.expiry import ANY_LOST, expire
from webhooks.outage_emails import email_outages, forget_hosts


@shared_task(expires=2)
def deliver_due() -> int:
    """Sends due webhooks and test events, and returns how many it claimed.

    While webhooks are sent, the next tick's task comes to the test events.
    """
    worker_status.record_heartbeat("deliver_due")
    if deliveries.are_on():  # else nothing had a chance
        expire()
    return DISPATCHER.run_due() + TESTS.run_due()


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


sweeps.register(deliver_due, due=f"({any_due(WEBHOOK)} OR {any_due(TEST)} OR {ANY_LOST})")
