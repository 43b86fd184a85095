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
    """On TERM, finishes and records the attempts under way, and begins no other."""
    # settings and apps are there by now
    from reviews.notifications.mail import dispatch as mail
    from reviews.notifications.push import dispatch as push
    from webhooks import dispatch as webhooks

    for engine in (webhooks.DISPATCHER, push.DISPATCHER, mail.DISPATCHER):
        engine.stop()
