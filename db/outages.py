"""Recognizes a database that cannot serve now, and repeats calls that its restart broke."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import DatabaseError, Error, InterfaceError, OperationalError, connection

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
UNKNOWN = {"42P01", "42703"}  # a table, a column
STEP, MAX_PAUSE = 0.2, 1.0  # seconds between two attempts of `retry_until`


def is_outage(error: BaseException | None) -> bool:
    """Tells whether the database failed but may serve later, unlike after a wrong statement."""
    if isinstance(error, InterfaceError):
        return True
    state = read_state(error)
    if state is None:
        return isinstance(error, OperationalError) or (isinstance(error, Error) and is_lost())
    return state in STATES or state.startswith(CLASSES)


def is_lost() -> bool:
    """Tells whether the last statement has lost its connection; a wrong statement keeps it.

    A server that is killed between two statements of a transaction may say anything.
    """
    return connection.connection is None or bool(connection.connection.closed)


def explain(error: BaseException) -> str | None:
    """Explains the remedy for a database failure; None if a traceback is more useful."""
    if read_state(error) in UNKNOWN:
        return "The database lacks tables or columns. Run `manage.py migrate` first."
    if is_unreachable(error):
        return f"The database cannot be reached; check DATABASE_URL: {read_first_line(error)}"
    if is_outage(error):
        return f"The database cannot be used: {str(error).strip()}"
    return None


def is_unreachable(error: BaseException) -> bool:
    """Tells whether no connection could be made, or it broke: no statement was refused."""
    return isinstance(error, OperationalError) and read_state(error) is None


def read_first_line(error: BaseException) -> str:
    """Returns the first line of the message; psycopg adds one for each address it tried."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def note_outage(error: BaseException | None) -> None:
    """Records a lock time-out or failed write, which affects later calls."""
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


def retry_until(
    ask: Callable[[], T], until: float = 0.0, stopping: threading.Event | None = None
) -> T:
    """Calls `ask` until the database can serve it, each time with a fresh connection.

    The first repeat follows at once: a connection may be older than the database's last restart.
    Later ones follow until a deadline, in seconds of `time.monotonic`, or until `stopping` is set.
    """
    stopping = stopping or threading.Event()
    pause = 0.0
    while True:
        try:
            return ask()
        except Error as error:
            if not is_outage(error):
                raise
            if pause and (time.monotonic() + pause > until or stopping.wait(pause)):
                raise
            connection.close()
            pause = min(pause + STEP, MAX_PAUSE)
