"""Records when each sweep last ran.

A sweep is background work that a tick starts in each second in which rows are due (`db.sweeps`). It
finds its rows in PostgreSQL: a lost message delays it by a second, and running it twice is
harmless. In the other seconds the tick records its heartbeat.
"""

import math
from datetime import datetime

from django.db import connection
from django.db.models.functions import Now

from db.models import Heartbeat

EXPECTED_SWEEPS = (
    "deliver_due",
    "fold_counters",
    "mail_due",
    "push_due",
    "release_lapsed",
    "send_queued",
    "settle_overdue",
)
LATE = 10.0  # seconds


def record_heartbeat(name: str) -> None:
    """Records that the sweep `name` ran now."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO db_heartbeat (name, beat_at) VALUES (%s, statement_timestamp())"
            " ON CONFLICT ON CONSTRAINT db_heartbeat_pkey"
            " DO UPDATE SET beat_at = excluded.beat_at",
            [name],
        )


def read_lags() -> dict[str, float]:
    """Returns the seconds since each sweep last ran, by name, without sweeps that never ran."""
    rows: list[tuple[str, datetime, datetime]] = list(
        Heartbeat.objects.order_by("name").values_list("name", "beat_at", Now())
    )
    return {name: max(0.0, round((now - at).total_seconds(), 3)) for name, at, now in rows}


def find_late(lags: dict[str, float]) -> list[str]:
    """Returns the sweeps that never ran or last ran more than LATE seconds ago."""
    return [name for name in EXPECTED_SWEEPS if lags.get(name, math.inf) > LATE]


def find_worst(lags: dict[str, float]) -> float:
    """Returns the longest lag; infinite if a sweep never ran."""
    return max(lags.get(name, math.inf) for name in EXPECTED_SWEEPS)
