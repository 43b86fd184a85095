"""Inserts emails into the queue."""

from typing import Any

from django.db import connection

from db.ids import new_id

MAX_WAITING = 10_000
_ENQUEUE = """
INSERT INTO mailing_queuedmail (id, sealed, next_attempt_at, failed_attempts, created_at,
                                expires_at)
SELECT %(id)s, %(sealed)s, statement_timestamp(), 0, statement_timestamp(),
       statement_timestamp() + make_interval(secs => %(life)s::float)
 WHERE (SELECT count(*) FROM (SELECT 1 FROM mailing_queuedmail LIMIT %(most)s::int) AS waiting)
       < %(most)s::int
"""


class QueueFull(OSError):
    """As many emails as may wait are waiting. To callers it is an unreachable mail server."""


def enqueue(sealed: bytes, *, life: float) -> None:
    """Inserts an email, in the caller's transaction. The email expires after `life` seconds.

    Raises QueueFull.
    """
    params: dict[str, Any] = {"id": new_id(), "sealed": sealed, "life": life, "most": MAX_WAITING}
    with connection.cursor() as cursor:
        cursor.execute(_ENQUEUE, params)
        if not cursor.rowcount:
            raise QueueFull("Too many emails are waiting to be sent.")
