"""Tells whether webhooks, pushes and emails may be sent now.

Two things stop them: DELIVERIES=off in the environment of a process, and a row in the database.
A restored backup contains the row (`config.backups`), so every process finds it.
`manage.py deliveries on` removes it.
"""

import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import DatabaseError, InterfaceError

from db.models import DeliveryStop

FRESH = 1.0  # seconds for which a process caches the row


@dataclass
class _Memory:
    """The cached row of this process, and the end of the cache (`time.monotonic`)."""

    is_stopped: bool = False
    until: float = 0.0


_memory = _Memory()


@dataclass(frozen=True)
class Stop:
    """The reason for stopped deliveries, and their time."""

    reason: str
    begun_at: datetime


def are_on() -> bool:
    """Tells whether this process may send. Raises DatabaseError if that cannot be read."""
    if not settings.DELIVERIES_ARE_ON:
        return False
    if time.monotonic() >= _memory.until:
        _memory.is_stopped = DeliveryStop.objects.exists()
        _memory.until = time.monotonic() + FRESH
    return not _memory.is_stopped


def seem_on() -> bool:
    """Tells the same for pages, which are also shown while the database is away."""
    with suppress(DatabaseError, InterfaceError):
        return are_on()
    _memory.until = time.monotonic() + FRESH  # the next page does not repeat a failing read
    return settings.DELIVERIES_ARE_ON and not _memory.is_stopped


def read_stop() -> Stop | None:
    """Returns the stop in the database, or None."""
    row = DeliveryStop.objects.first()
    return Stop(row.reason, row.begun_at) if row else None


def stop(*, reason: str) -> None:
    """Stops deliveries of all processes within FRESH seconds; attempts under way end first."""
    DeliveryStop.objects.bulk_create([DeliveryStop(pk=1, reason=reason)], ignore_conflicts=True)
    forget()


def resume(*, reason: str = "") -> None:
    """Removes the row; with a `reason`, only a row of that reason. Processes then send again."""
    rows = DeliveryStop.objects.all()
    (rows.filter(reason=reason) if reason else rows).delete()
    forget()


def forget() -> None:
    """Clears the cache of this process; it reads the row before the next delivery."""
    _memory.until = 0.0
