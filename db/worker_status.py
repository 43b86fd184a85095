"""Sweeps: background work that beat triggers every second and that any worker may do twice.

A sweep finds its rows in PostgreSQL, so a lost message costs a second and nothing else.
"""

from datetime import datetime

from django.db import connection
from django.db.models.functions import Now

from db.models import Heartbeat


def beat(name: str) -> None:
    """Records that the sweep `name` has run."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO db_heartbeat (name, beat_at) VALUES (%s, statement_timestamp())"
            " ON CONFLICT ON CONSTRAINT db_heartbeat_pkey"
            " DO UPDATE SET beat_at = excluded.beat_at",
            [name],
        )


def lags() -> dict[str, float]:
    """Seconds since each sweep last ran."""
    rows: list[tuple[str, datetime, datetime]] = list(
        Heartbeat.objects.order_by("name").values_list("name", "beat_at", Now())
    )
    return {name: max(0.0, round((now - at).total_seconds(), 3)) for name, at, now in rows}
