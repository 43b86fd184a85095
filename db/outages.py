"""Tells an unreachable database from a statement that failed, and survives a restart of it."""

from collections.abc import Callable
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection

T = TypeVar("T")


def is_outage(error: Exception) -> bool:
    """Whether the database is out of reach, rather than the statement wrong."""
    if isinstance(error, InterfaceError):
        return True
    if not isinstance(error, OperationalError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    # 08 connection, 53 out of connections, 57P shut down or starting
    return state is None or state[:2] in ("08", "53") or state.startswith("57P")


def retry_once(ask: Callable[[], T]) -> T:
    """Calls `ask`, and once more with a fresh connection where the kept one was broken.

    For threads of long life, whose connection may be older than the last restart of the database.
    """
    try:
        return ask()
    except (OperationalError, InterfaceError):
        connection.close()
        return ask()
