"""Beat's scheduler, which notes that it runs (`config.alive`) and survives a damaged file."""

from typing import Any

from celery.beat import PersistentScheduler

from config import alive


class Scheduler(PersistentScheduler):
    """Sends tasks as Celery's own does."""

    def setup_schedule(self) -> None:
        """Makes the file of the schedule anew where the crash of a machine has damaged it.

        Celery's own does so for some kinds of damage. Nothing in the file must last.
        """
        try:
            super().setup_schedule()
        except Exception as error:
            self._store = self._destroy_open_corrupted_schedule(error)  # type: ignore[attr-defined]
            super().setup_schedule()

    def tick(self, *args: Any, **options: Any) -> Any:
        alive.touch("beat")
        return super().tick(*args, **options)
