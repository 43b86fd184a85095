"""Opens connections in addition to Django's, and counts those of this service."""

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

_COUNT = """
SELECT coalesce(state, 'unknown'), count(*) FROM pg_stat_activity
 WHERE datname = current_database() AND backend_type = 'client backend' GROUP BY 1
"""


def count_by_state() -> dict[str, int]:
    """Returns how many connections to this database are in each state, such as active and idle."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT)
        return dict(cursor.fetchall())


def read_limit() -> int:
    """Returns how many connections the server allows."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('max_connections')::int")
        return int(cursor.fetchone()[0])


def wrap(database: dict[str, Any], alias: str = "other") -> BaseDatabaseWrapper:
    """Returns a closed connection with these settings instead of those in DATABASES."""
    wrapper = connections[DEFAULT_DB_ALIAS]
    return type(wrapper)({**wrapper.settings_dict, **database}, alias=alias)
