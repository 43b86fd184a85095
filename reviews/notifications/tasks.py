"""Celery tasks that send due notifications; they may run twice at once."""

from celery import shared_task

from db import pruning, sweeps, worker_status
from reviews.notifications import outbox
from reviews.notifications.mail import dispatch as mail
from reviews.notifications.mail.outbox import ANY_DUE as ANY_MAIL_DUE
from reviews.notifications.push import dispatch as push
from reviews.notifications.push.outbox import ANY_DUE as ANY_PUSH_DUE


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
    return pruning.run_batches(outbox.remove_old, batch=outbox.BATCH)


sweeps.register(push_due, due=ANY_PUSH_DUE)
sweeps.register(mail_due, due=ANY_MAIL_DUE)
