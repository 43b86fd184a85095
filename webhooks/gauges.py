"""Numbers for the operator's metrics: what waits, and which hosts are paused."""

from django.db import connection

_OLDEST = """
SELECT coalesce(extract(epoch FROM statement_timestamp() - min(next_attempt_at)), 0)::float
  FROM webhooks_delivery
 WHERE state = 'waiting' AND claim_id IS NULL AND next_attempt_at <= statement_timestamp()
"""
_PAUSED = "SELECT count(*) FROM webhooks_circuit WHERE open_until > statement_timestamp()"

_WAITING = """
SELECT host, count(*) FROM webhooks_delivery WHERE state = 'waiting'
 GROUP BY host ORDER BY count(*) DESC, host
"""


def count_waiting_by_host() -> dict[str, int]:
    """Returns how many deliveries wait for each host, the most first."""
    with connection.cursor() as cursor:
        cursor.execute(_WAITING)
        return dict(cursor.fetchall())


def read_oldest_due() -> float:
    """Returns for how many seconds the oldest due delivery has waited; 0 if none is due.

    Deliveries that wait for the end of a pause count, too.
    """
    with connection.cursor() as cursor:
        cursor.execute(_OLDEST)
        return max(0.0, float(cursor.fetchone()[0]))


def count_paused_hosts() -> int:
    """Returns how many circuits are open."""
    with connection.cursor() as cursor:
        cursor.execute(_PAUSED)
        return int(cursor.fetchone()[0])
