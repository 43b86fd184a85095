"""Who else is connected to the test's database, and what they do there."""

from django.db import connection

_ALL = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""


def backends(condition: str = "TRUE", *values: str) -> set[int]:
    """The process ids of other clients' connections for which the condition on the columns of
    `pg_stat_activity` is true. PostgreSQL's own processes, such as autovacuum, come and go, and
    aren't among them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # a transaction sees one otherwise
        cursor.execute(f"{_ALL} AND ({condition})", values or None)
        return {pid for (pid,) in cursor.fetchall()}


def waiting_for_locks() -> int:
    """How many statements of others wait for a lock."""
    return len(backends("wait_event_type = 'Lock'"))


def listening() -> set[int]:
    """Those that wait for notifications."""
    return backends("state = 'idle' AND query LIKE 'LISTEN %'")
