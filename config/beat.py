"""Beat's scheduler, which notes that it runs (`config.alive`)."""

from typing import Any

from celery.beat import PersistentScheduler

from config import alive


class Scheduler(PersistentScheduler):
    """Sends tasks as Celery's own does."""

    def tick(self, *args: Any, **options: Any) -> Any:
        alive.touch("beat")
        return super().tick(*args, **options)
