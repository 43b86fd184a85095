"""The Celery application: beat sends periodic tasks and workers run them; all state is in SQL."""

import logging.config
import os
import sys

from celery import Celery
from celery.signals import (
    heartbeat_sent,
    setup_logging,
    task_prerun,
    worker_ready,
    worker_shutting_down,
)

from config import alive

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("PROCESS_KIND", "worker")
# Celery runs Django's checks and discards the results; they take half a second to load all pages.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

app = Celery("reviewloop")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Without it Celery closes a thread's connection before and after each task.
app.conf.update(CELERY_DB_REUSE_MAX=sys.maxsize)
app.autodiscover_tasks(
    ["accounts", "db", "mailing", "reviews", "reviews.notifications", "webhooks"]
)


@setup_logging.connect
def keep_logging(**_: object) -> None:
    """Keeps the logging of LOG_LEVEL and LOG_FORMAT, whatever --loglevel says.

    Celery configures no logging if this signal has a receiver.
    """
    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)


@worker_ready.connect
def serve_metrics(**_: object) -> None:
    """Serves the metrics of the worker on METRICS_PORT."""
    from web import metrics_server

    metrics_server.start()


@task_prerun.connect
def check_connection(**_: object) -> None:
    """Closes this thread's database connection if the server closed it or it failed."""
    from django.db import close_old_connections

    close_old_connections()


@heartbeat_sent.connect
def note_life(**_: object) -> None:
    """Records every two seconds that the worker's loop runs, while Redis is reachable."""
    alive.touch("worker")


@worker_shutting_down.connect
def stop_deliveries(**_: object) -> None:
    """Finishes and records running attempts on SIGTERM, and starts no others."""
    # imported here because settings and apps are not ready when this module loads
    from outbox.dispatcher import stop_all

    stop_all()
