"""Celery tasks that send due notifications; they may run twice at once."""

from celery import shared_task

from db import pruning, sweeps, worker_status
from outbox.claiming import any_due
from reviews.notifications import retention
from reviews.notifications.mail import channel as mail
from reviews.notifications.push import channel as push


@shared_task(expires=2)
def push_due() -> int:
    """Sends due pushes, and returns how many it claimed."""
    worker_status.record_heartbeat("push_due")
    return push.DISPATCHER.run_due()


@shared_task(expires=2)
def mail_due() -> int:
    """Sends due emails, and returns for how many people it claimed some."""
    worker_status.record_heartbeat("mail_due")
    return mail.DISPATCHER.run_due()


@shared_task(expires=60)
def forget_old() -> int:
    """Deletes notifications that ended some days ago; returns how many."""
    return pruning.run_batches(retention.remove_old, batch=retention.BATCH)


sweeps.register(push_due, due=any_due(push.CHANNEL))
sweeps.register(mail_due, due=any_due(mail.CHANNEL))
