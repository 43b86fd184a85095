"""Removes notifications whose requests ended some days ago."""

from django.db import connection

from reviews.lifecycle.conditions import OPEN

KEPT_DAYS = 7
BATCH = 5_000  # rows that one statement removes
_BEFORE = "statement_timestamp() - make_interval(days => %(days)s::int)"
# While its request is open and some days longer, a notification says who was notified.
_TIDY = f"""
DELETE FROM reviews_notification WHERE (id, account_id) IN (
    SELECT id, account_id FROM reviews_notification n
     WHERE done_at < {_BEFORE}
       AND NOT EXISTS (SELECT FROM reviews_request r
                        WHERE r.id = n.request_id AND ({OPEN} OR r.updated_at >= {_BEFORE}))
     ORDER BY done_at LIMIT %(limit)s::int)
"""  # noqa: S608


def remove_old() -> int:
    """Deletes up to BATCH notifications; returns how many."""
    with connection.cursor() as cursor:
        cursor.execute(_TIDY, {"days": KEPT_DAYS, "limit": BATCH})
        return int(cursor.rowcount)
