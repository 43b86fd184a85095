"""Registers the sweeps, and finds once a second those that have due rows.

A sweep is a Celery task for due rows. Each app registers its sweeps with an SQL condition that
holds while a row is due. Once a second, one statement evaluates all conditions. It records the
heartbeats of the sweeps without due rows, so a lag is the time for which a row may have waited. The
sweeps need no wake-up and keep no state: a lost message, a wrong clock or a paused worker delays a
sweep until the next tick.
"""

from dataclasses import dataclass
from typing import Any

import psycopg
from celery import Task
from django.db import OperationalError, connection, transaction

BEAT_AFTER = 2.5  # seconds; every third tick writes, the others only read
LOCK_TIMEOUT = "200ms"  # a locked table must not stop the sweeps of other tables
CUT_SHORT = (psycopg.errors.LockNotAvailable, psycopg.errors.QueryCanceled)


@dataclass(frozen=True, slots=True)
class Sweep:
    """A task, the condition under which it is due, and the number of tasks that share the work."""

    task: "Task[Any, Any]"
    due: str
    runs: int

    @property
    def name(self) -> str:
        """The name of its heartbeat."""
        return str(self.task.name).rpartition(".")[2]


SWEEPS: dict[str, Sweep] = {}


def register(task: "Task[Any, Any]", *, due: str, runs: int = 1) -> None:
    """Registers `task`, which starts in each second in which `due`, an SQL condition, holds."""
    sweep = Sweep(task, due, runs)
    SWEEPS[sweep.name] = sweep


def find_due() -> list[Sweep]:
    """Returns the due sweeps, and records the heartbeats of the others.

    Returns all sweeps after a lock time-out: each then looks for due rows itself.
    """
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
            cursor.execute(_build_statement(), [BEAT_AFTER])
            return [SWEEPS[name] for (name,) in cursor.fetchall()]
    except OperationalError as error:
        if not isinstance(error.__cause__, CUT_SHORT):
            raise
        return list(SWEEPS.values())


def _build_statement() -> str:
    """Builds the statement with all conditions. Its commit does not wait for the disk."""
    conditions = ", ".join(f"('{name}', {each.due})" for name, each in sorted(SWEEPS.items()))
    return f"""
WITH sweep AS MATERIALIZED (
    SELECT name, is_due FROM (VALUES {conditions}) AS each (name, is_due)
), beat AS (
    INSERT INTO db_heartbeat AS known (name, beat_at)
    SELECT name, statement_timestamp() FROM sweep LEFT JOIN db_heartbeat AS last USING (name)
     WHERE NOT is_due AND set_config('synchronous_commit', 'off', true) IS NOT NULL
       AND (last.beat_at IS NULL OR abs(extract(
            epoch FROM statement_timestamp() - last.beat_at)) > %s)
     ORDER BY name  -- two ticks at once lock in the same order
    ON CONFLICT ON CONSTRAINT db_heartbeat_pkey DO UPDATE SET beat_at = excluded.beat_at
)
SELECT name FROM sweep WHERE is_due ORDER BY name
"""  # noqa: S608 (nothing in it comes from outside)
