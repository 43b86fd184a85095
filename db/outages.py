"""Recognizes an unreachable database, and repeats what a restart of it has broken."""

from collections.abc import Callable
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection

T = TypeVar("T")


def is_outage(error: Exception) -> bool:
    """Whether the error means an unreachable database, not a wrong statement."""
    if isinstance(error, InterfaceError):
        return True
    if not isinstance(error, OperationalError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    # 08: connection error, 53: no free connections, 57P: shutting down or starting
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
