"""Removes deliveries and attempts that are older than the service keeps them, and old circuits.

What waits is never removed, however old it is. Attempts go with their delivery, or before it.
"""

import random
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from db.pruning import BATCH, id_before_sql, older_than_sql, run_batches

# From account to account by index; those that have something to remove.
_ACCOUNTS = f"""
WITH RECURSIVE owner AS (
    (SELECT account_id AS id FROM webhooks_delivery ORDER BY account_id LIMIT 1)
    UNION ALL
    SELECT following.id FROM owner CROSS JOIN LATERAL (
        SELECT account_id AS id FROM webhooks_delivery
         WHERE account_id > owner.id ORDER BY account_id LIMIT 1) following
)
SELECT id FROM owner WHERE EXISTS (
    SELECT FROM webhooks_delivery d
     WHERE d.account_id = owner.id AND d.state <> 'waiting'
       AND d.created_at <= {older_than_sql()})
"""  # noqa: S608 (nothing in it comes from outside)
_OLD = f"""
SELECT id FROM webhooks_delivery
 WHERE account_id = %(account)s AND state <> 'waiting' AND created_at <= {older_than_sql()}
 ORDER BY created_at, id LIMIT {BATCH} FOR UPDATE SKIP LOCKED
"""  # noqa: S608
_ABOUT = """
SELECT id FROM webhooks_delivery
 WHERE occurrence = ANY (%(occurrences)s) AND account_id = %(account)s
   AND (state <> 'waiting' OR %(waiting)s) ORDER BY id FOR UPDATE
"""
_REMOVE_ATTEMPTS_OF = """
DELETE FROM webhooks_attempt WHERE delivery_id = ANY (%(ids)s) AND account_id = %(account)s
"""
_REMOVE = "DELETE FROM webhooks_delivery WHERE id = ANY (%(ids)s) AND account_id = %(account)s"
# By primary key: an id begins with the time when it was made.
_REMOVE_ATTEMPTS = f"""
DELETE FROM webhooks_attempt WHERE (id, account_id) IN (
    SELECT id, account_id FROM webhooks_attempt WHERE id < {id_before_sql()}
     ORDER BY id LIMIT {BATCH} FOR UPDATE SKIP LOCKED)
"""  # noqa: S608
# Only where nothing waits for the host. Without this, each host that ever failed would keep a row.
_REMOVE_CIRCUITS = f"""
DELETE FROM webhooks_circuit WHERE (account_id, host) IN (
    SELECT account_id, host FROM webhooks_circuit AS c
     WHERE (open_until IS NULL OR open_until <= statement_timestamp() - interval '24 hours')
       AND NOT EXISTS (SELECT FROM webhooks_delivery AS d
            WHERE d.account_id = c.account_id AND d.host = c.host AND d.state = 'waiting')
     LIMIT {BATCH} FOR UPDATE SKIP LOCKED)
"""  # noqa: S608


def prune(*, until: float) -> int:
    """Removes what is older than the settings say, and old circuits; returns how many rows.

    Begins nothing after `until`, a time of `time.monotonic()`.
    """
    removed = run_batches(partial(_execute, _REMOVE_CIRCUITS, {}), until=until)
    days = settings.KEEP_ATTEMPTS_DAYS
    if days is not None:
        remove = partial(_execute, _REMOVE_ATTEMPTS, {"days": days})
        removed += run_batches(remove, until=until)
    days = settings.KEEP_DELIVERIES_DAYS
    if days is None or time.monotonic() >= until:
        return removed
    accounts = [pk for (pk,) in _fetch(_ACCOUNTS, {"days": days})]
    random.shuffle(accounts)  # a run that ends early does not always end at the same account
    for account_id in accounts:
        removed += run_batches(partial(_remove_old, account_id, days), until=until)
    return removed


def remove_about(*, account_id: str, occurrences: Sequence[str], waiting: bool = False) -> None:
    """Removes the deliveries of these occurrences with their attempts, in the caller's transaction.

    Those that wait are removed only with `waiting`.
    """
    params = {"account": account_id, "occurrences": list(occurrences), "waiting": waiting}
    remove_deliveries(account_id, [pk for (pk,) in _fetch(_ABOUT, params)])


def remove_deliveries(account_id: str, delivery_ids: Sequence[str]) -> None:
    """Removes deliveries that the caller's transaction has locked, and their attempts."""
    params = {"account": account_id, "ids": list(delivery_ids)}
    if delivery_ids:
        _execute(_REMOVE_ATTEMPTS_OF, params)
        _execute(_REMOVE, params)


@transaction.atomic
def _remove_old(account_id: str, days: int) -> int:
    ids = [pk for (pk,) in _fetch(_OLD, {"account": account_id, "days": days})]
    remove_deliveries(account_id, ids)
    return len(ids)


def _fetch(sql: str, params: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _execute(sql: str, params: dict[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return int(cursor.rowcount)
