"""The Celery task that beat sends every second: it starts the due sweeps."""

import threading

from celery import shared_task

from db import sweeps

_running = threading.Lock()


@shared_task(expires=2)
def tick() -> int:
    """Sends the due sweeps to the workers, and returns how many.

    Does nothing while another tick runs in this process: an unresponsive database must not occupy
    all its threads.
    """
    if not _running.acquire(blocking=False):
        return 0
    try:
        due = sweeps.find_due()
        for sweep in due:
            for _ in range(sweep.runs):
                sweep.task.apply_async()
    finally:
        _running.release()
    return len(due)
