"""Removes rows older than a number of days, in batches that hold their locks briefly."""

import math
import time
from collections.abc import Callable

BATCH = 500
"""Rows that one statement deletes, so that it holds locks for a few milliseconds only."""
SECONDS = 60.0
"""Time of one run; the next one goes on, ten minutes later."""


def run_batches(remove: Callable[[], int], *, batch: int = BATCH, until: float = math.inf) -> int:
    """Calls `remove` until it removes less than a whole batch; returns how many rows in all.

    Starts no batch after `until`, a time of `time.monotonic()`.
    """
    total = 0
    while time.monotonic() < until:
        removed = remove()
        total += removed
        if removed < batch:
            break
    return total


def compute_end() -> float:
    """Returns when a run that begins now has to end, as a time of `time.monotonic()`."""
    return time.monotonic() + SECONDS


def older_than_sql(days: str = "%(days)s") -> str:
    """Returns SQL for the time `days` ago, usable in an index condition."""
    return f"statement_timestamp() - make_interval(days => {days}::int)"


def id_before_sql(days: str = "%(days)s") -> str:
    """Returns SQL for the least id of rows created `days` ago (`db.ids`)."""
    moment = f"extract(epoch FROM {older_than_sql(days)})"
    return f"lpad(to_hex(({moment} * 1000)::bigint), 12, '0')"
