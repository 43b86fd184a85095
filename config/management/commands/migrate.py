"""`manage.py migrate` changes the database while the service uses it.

A statement that waits for a lock blocks all later statements on the table. It gives up after
`lock_timeout` and retries with a longer pause.
"""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands.migrate import Command as DjangoCommand
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from psycopg import errors

LOCK = 7_220_111_500_000_001  # of migrating processes
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)  # seconds between two attempts; the last one repeats
_LIMITS = "SELECT set_config('lock_timeout', %s, false), set_config('statement_timeout', %s, false)"
_OLDEST = """
SELECT pid, coalesce(nullif(application_name, ''), 'unnamed'),
       extract(epoch FROM clock_timestamp() - xact_start)::int
  FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
 ORDER BY xact_start LIMIT 1
"""


class Command(DjangoCommand):
    def handle(self, *args: Any, **options: Any) -> None:
        """Migrates, and retries after a lock time-out. Raises CommandError."""
        give_up_at = time.monotonic() + settings.MIGRATE_PATIENCE_SECONDS
        with limited(), alone(self._say):
            for pause in pauses():
                try:
                    super().handle(*args, **options)
                    return
                except OperationalError as error:
                    if not isinstance(
                        error.__cause__, errors.LockNotAvailable | errors.DeadlockDetected
                    ):
                        raise self._explain(error) from error
                    if time.monotonic() >= give_up_at:
                        raise CommandError(
                            f"A migration waited in vain for a lock.{describe_oldest()} Nothing is"
                            " half done: run it again."
                        ) from error
                self._say(
                    f"A table is locked, so nobody is kept waiting: trying again in {pause:.1f} s."
                    f"{describe_oldest()}"
                )
                time.sleep(pause)

    def _say(self, text: str) -> None:
        self.stderr.write(text, self.style.WARNING)

    def _explain(self, error: OperationalError) -> Exception:
        if not isinstance(error.__cause__, errors.QueryCanceled):
            return error
        return CommandError(
            "A statement took longer than MIGRATE_STATEMENT_SECONDS, which is"
            f" {settings.MIGRATE_STATEMENT_SECONDS:g}, and was taken back. Run it at a quiet hour"
            " with a larger value: calls may wait that long meanwhile."
        )


@contextmanager
def limited() -> Iterator[None]:
    """Limits lock waits and durations of statements until the end of the block."""
    limits = (settings.MIGRATE_LOCK_SECONDS, settings.MIGRATE_STATEMENT_SECONDS)
    with connection.cursor() as cursor:
        cursor.execute(_LIMITS, [f"{seconds * 1000:.0f}" for seconds in limits])
    try:
        yield
    finally:
        with suppress(DatabaseError, InterfaceError), connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout; RESET statement_timeout")


@contextmanager
def alone(say: Any) -> Iterator[None]:
    """Waits until no other process migrates.

    Polls for the lock: a concurrent index build would wait for a waiting statement.
    """
    for pause in pauses():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
            if cursor.fetchone()[0]:
                break
        say("Another process migrates; waiting for it.")
        time.sleep(pause)
    try:
        yield
    finally:
        with suppress(DatabaseError, InterfaceError), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


def pauses() -> Iterator[float]:
    """Yields the seconds to wait, randomized because other processes may wait for the same lock."""
    number = 0
    while True:
        yield PAUSES[min(number, len(PAUSES) - 1)] * random.uniform(0.8, 1.2)  # noqa: S311
        number += 1


def describe_oldest() -> str:
    """Describes the oldest transaction, which often holds the lock."""
    with suppress(DatabaseError, InterfaceError), connection.cursor() as cursor:
        cursor.execute(_OLDEST)
        if row := cursor.fetchone():
            pid, name, seconds = row
            return f" The oldest transaction is {seconds} s old (process {pid}, {name})."
    return ""
