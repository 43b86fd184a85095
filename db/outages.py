"""Recognizes a database that cannot serve now, and repeats what a restart of it has broken."""

from collections.abc import Callable
from typing import TypeVar

from django.db import DatabaseError, InterfaceError, OperationalError, connection

from db import lock_waits, writability

T = TypeVar("T")

LOCK_TIMEOUT = "55P03"
# 08: connection error, 53: no room (disk, memory, connections), 57P: shutting down or starting
CLASSES = ("08", "53", "57P")
STATES = {
    LOCK_TIMEOUT,
    "57014",  # the statement took too long
    "25P03",  # the server ended a transaction that was idle for too long
    "25006",  # read-only, such as a standby
    "40001",  # cannot be serialized
    "40P01",  # deadlock
    "58030",  # the disk reports an error
}


def is_outage(error: BaseException | None) -> bool:
    """Whether the database could not serve in time, but may later: not a wrong statement."""
    if isinstance(error, InterfaceError):
        return True
    state = read_state(error)
    if state is None:
        return isinstance(error, OperationalError)
    return state in STATES or state.startswith(CLASSES)


def note_outage(error: BaseException | None) -> None:
    """Remembers what the outage tells about later calls: a long lock, or a failed write."""
    state = read_state(error)
    if state == LOCK_TIMEOUT:
        lock_waits.note_timeout()
    elif state in writability.FAILURES:
        writability.note_failure()


def read_state(error: BaseException | None) -> str | None:
    """Reads the SQLSTATE of an exception of Django; None without one."""
    cause = error.__cause__ if isinstance(error, DatabaseError) else None
    state: str | None = getattr(cause, "sqlstate", None)
    return state


def retry_once(ask: Callable[[], T]) -> T:
    """Calls `ask`, and once more with a fresh connection where the kept one was broken.

    For threads of long life, whose connection may be older than the last restart of the database.
    """
    try:
        return ask()
    except (OperationalError, InterfaceError):
        connection.close()
        return ask()
