"""Whether webhooks, pushes and emails may be sent now.

Two things stop them: DELIVERIES=off in the environment of a process, and a row in the database.
The row comes with a restored backup (`config.backups`), so no process can forget it.
`manage.py deliveries on` removes it.
"""

import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import DatabaseError, InterfaceError

from db.models import DeliveryStop

FRESH = 1.0  # seconds for which a process believes what it has read


@dataclass
class _Memory:
    """What this process has read of the row, and until when it believes it (`time.monotonic`)."""

    is_stopped: bool = False
    until: float = 0.0


_memory = _Memory()


@dataclass(frozen=True)
class Stop:
    """Says why, and since when, nothing is sent."""

    reason: str
    begun_at: datetime


def are_on() -> bool:
    """Whether this process may send. Raises DatabaseError where that cannot be read."""
    if not settings.DELIVERIES_ARE_ON:
        return False
    if time.monotonic() >= _memory.until:
        _memory.is_stopped = DeliveryStop.objects.exists()
        _memory.until = time.monotonic() + FRESH
    return not _memory.is_stopped


def seem_on() -> bool:
    """The same for pages, which are shown without a database, too."""
    with suppress(DatabaseError, InterfaceError):
        return are_on()
    _memory.until = time.monotonic() + FRESH  # the next page does not try in vain as well
    return settings.DELIVERIES_ARE_ON and not _memory.is_stopped


def read_stop() -> Stop | None:
    """Returns what the database says; None where it stops nothing."""
    row = DeliveryStop.objects.first()
    return Stop(row.reason, row.begun_at) if row else None


def stop(*, reason: str) -> None:
    """Stops deliveries of all processes, within FRESH seconds and the attempts under way."""
    DeliveryStop.objects.bulk_create([DeliveryStop(pk=1, reason=reason)], ignore_conflicts=True)
    forget()


def resume(*, reason: str = "") -> None:
    """Removes the row, so that processes without DELIVERIES=off send again; with a reason, only if
    it was stopped for that."""
    rows = DeliveryStop.objects.all()
    (rows.filter(reason=reason) if reason else rows).delete()
    forget()


def forget() -> None:
    """Forgets what this process has read, so that it asks the database before it sends again."""
    _memory.until = 0.0
