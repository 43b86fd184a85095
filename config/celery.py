"""Celery: what happens later. Beat ticks, workers sweep; the truth stays in PostgreSQL."""

import os

from celery import Celery
from celery.signals import worker_shutting_down

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("reviewloop")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["accounts", "reviews", "reviews.notifications", "webhooks"])


@worker_shutting_down.connect
def stop_deliveries(**_: object) -> None:
    """TERM: attempts under way are finished and recorded, and no other is begun."""
    # settings and apps are there by now
    from reviews.notifications.dispatch import SENDER
    from reviews.notifications.mails import MAILER
    from webhooks.dispatch import DISPATCHER

    for sending in (DISPATCHER, SENDER, MAILER):
        sending.stop()
