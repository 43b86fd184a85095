"""Tells an unreachable database from a statement that failed."""

from django.db import InterfaceError, OperationalError


def is_outage(error: Exception) -> bool:
    """Whether the database is out of reach, rather than the statement wrong."""
    if isinstance(error, InterfaceError):
        return True
    if not isinstance(error, OperationalError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    # 08 connection, 53 out of connections, 57P shut down or starting
    return state is None or state[:2] in ("08", "53") or state.startswith("57P")
