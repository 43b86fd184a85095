"""A number for the operator's metrics: how long emails wait."""

from django.db import connection

_OLDEST = """
SELECT coalesce(extract(epoch FROM statement_timestamp() - min(created_at)), 0)::float
  FROM mailing_queuedmail
"""

_COUNT = "SELECT count(*) FROM mailing_queuedmail"


def count_waiting() -> int:
    """Returns how many emails are in the queue."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT)
        return int(cursor.fetchone()[0])


def read_oldest() -> float:
    """Returns the age of the oldest email in the queue, in seconds; 0 if it is empty."""
    with connection.cursor() as cursor:
        cursor.execute(_OLDEST)
        return max(0.0, float(cursor.fetchone()[0]))
