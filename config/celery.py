"""Celery: what happens later. Beat ticks, workers sweep; the truth stays in PostgreSQL."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("reviewloop")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["reviews", "webhooks"])
