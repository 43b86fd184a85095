"""Removes usage and audit entries that are older than the service keeps them."""

from functools import partial

from django.conf import settings
from django.db import connection, transaction

from db.pruning import BATCH, id_before_sql, older_than_sql, run_batches

# One key after another: the primary key orders each key's hours.
_REMOVE_USAGE = f"""
DELETE FROM accounts_usage WHERE (key_id, hour) IN (
    SELECT old.key_id, old.hour FROM accounts_apikey k CROSS JOIN LATERAL (
        SELECT key_id, hour FROM accounts_usage
         WHERE key_id = k.id AND hour <= {older_than_sql()}
         ORDER BY hour LIMIT {BATCH}) old LIMIT {BATCH})
"""  # noqa: S608 (nothing in it comes from outside)
# By primary key: an id begins with the time when it was made. The trigger on the table allows the
# deletion of old entries with this setting (migration 0008).
_ALLOW = "SELECT set_config('review_loop.audit', 'prune', true)"
_REMOVE_AUDIT = f"""
DELETE FROM accounts_auditentry WHERE (id, account_id) IN (
    SELECT id, account_id FROM accounts_auditentry
     WHERE id < {id_before_sql()} AND created_at <= {older_than_sql()}
     ORDER BY id LIMIT {BATCH} FOR UPDATE SKIP LOCKED)
"""  # noqa: S608


def prune(*, until: float) -> int:
    """Removes what is older than the settings say; returns how many rows.

    Starts no batch after `until`, a time of `time.monotonic()`.
    """
    removed = 0
    if settings.KEEP_USAGE_DAYS is not None:
        remove = partial(_execute, _REMOVE_USAGE, settings.KEEP_USAGE_DAYS)
        removed += run_batches(remove, until=until)
    if settings.KEEP_AUDIT_DAYS is not None:
        removed += run_batches(partial(_remove_audit, settings.KEEP_AUDIT_DAYS), until=until)
    return removed


@transaction.atomic
def _remove_audit(days: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_ALLOW)
    return _execute(_REMOVE_AUDIT, days)


def _execute(sql: str, days: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, {"days": days})
        return int(cursor.rowcount)
