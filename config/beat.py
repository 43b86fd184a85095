"""Beat's scheduler: it records that it runs (`config.alive`) and replaces a damaged file."""

from typing import Any

from celery.beat import PersistentScheduler

from config import alive


class Scheduler(PersistentScheduler):
    """Celery's scheduler with these two additions."""

    def setup_schedule(self) -> None:
        """Creates the schedule file again if a crash of the machine has damaged it.

        Celery repairs only some kinds of damage. The file contains nothing that must be kept.
        """
        try:
            super().setup_schedule()
        except Exception as error:
            self._store = self._destroy_open_corrupted_schedule(error)  # type: ignore[attr-defined]
            super().setup_schedule()

    def tick(self, *args: Any, **options: Any) -> Any:
        alive.touch("beat")
        return super().tick(*args, **options)
