"""Reads metrics for the operator: open requests by age, and waiting notifications."""

from django.db import connection

from reviews.lifecycle.conditions import OPEN

AGES = {"1m": 60, "10m": 600, "1h": 3600, "1d": 86_400}  # seconds
# Ids begin with the time of creation, so one index is enough.
_STARTS = ", ".join(
    f"lpad(to_hex((extract(epoch FROM statement_timestamp() - interval '{seconds} seconds')"
    " * 1000)::bigint), 12, '0')"
    for seconds in AGES.values()
)
_COUNTS = ", ".join(
    f"count(*) FILTER (WHERE r.id >= bounds.at[{number}])" for number in range(1, len(AGES) + 1)
)
_OPEN_BY_AGE = f"""
WITH bounds AS (SELECT ARRAY[{_STARTS}] AS at)
SELECT count(*), {_COUNTS}
  FROM reviews_request r CROSS JOIN bounds WHERE {OPEN}
"""  # noqa: S608 (nothing in it comes from outside)
_OLDEST = """
SELECT channel, extract(epoch FROM statement_timestamp() - min(next_attempt_at))::float
  FROM reviews_notification
 WHERE state = 'waiting' AND claim_id IS NULL AND next_attempt_at <= statement_timestamp()
 GROUP BY channel
"""

_WAITING = """
SELECT channel, count(*) FROM reviews_notification WHERE state = 'waiting' GROUP BY channel
"""


def count_waiting() -> dict[str, int]:
    """Returns how many pushes and emails about requests wait."""
    with connection.cursor() as cursor:
        cursor.execute(_WAITING)
        return {"push": 0, "mail": 0, **dict(cursor.fetchall())}


def count_open_by_age() -> dict[str, int]:
    """Counts the open requests that are younger than each of AGES, and of `any` age."""
    with connection.cursor() as cursor:
        cursor.execute(_OPEN_BY_AGE)
        total, *younger = cursor.fetchone()
    return {**dict(zip(AGES, younger, strict=True)), "any": total}


def read_oldest_due() -> dict[str, float]:
    """Returns the waiting seconds of the oldest due push and email; 0 if none is due."""
    with connection.cursor() as cursor:
        cursor.execute(_OLDEST)
        return {"push": 0.0, "mail": 0.0, **dict(cursor.fetchall())}
