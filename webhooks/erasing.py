"""Removes an account's webhooks, and a person from the webhooks of other accounts."""

import re
from functools import partial
from typing import Any

from django.db import connection, transaction

from db.pruning import BATCH, run_batches
from webhooks.models import Circuit, FailingHost, LoggedEvent
from webhooks.retention import remove_deliveries

_ALL = f"""
SELECT id FROM webhooks_delivery WHERE account_id = %s
 ORDER BY created_at DESC, id DESC LIMIT {BATCH} FOR UPDATE
"""  # noqa: S608 (nothing in it comes from outside)
# The person in `data.reviewer` and `data.request.response_by_user`, in JSON that PostgreSQL wrote.
_TEXT = r'"(?:[^"\\]|\\.)*"'
_FIND = """
SELECT id FROM {table} WHERE account_id = %(account)s AND body IS NOT NULL
   AND position(convert_to(%(person)s, 'UTF8') IN body) > 0
"""
_REWRITE = """
UPDATE {table} SET body = convert_to(regexp_replace(convert_from(body, 'UTF8'),
       %(pattern)s, %(words)s, 'g'), 'UTF8')
 WHERE id = ANY (%(ids)s) AND account_id = %(account)s
"""
_BODIES = ("webhooks_delivery", "webhooks_loggedevent")


def remove_all(account_id: str, *, until: float) -> None:
    """Removes the account's deliveries, also those that wait, its log of events and its hosts."""
    run_batches(partial(_remove_batch, account_id), until=until)
    for model in (LoggedEvent, Circuit, FailingHost):
        model._default_manager.filter(account_id=account_id).delete()


def rewrite_bodies(account_id: str, *, person_id: str, name: str, email: str) -> int:
    """Writes a pseudonym into the account's stored events; returns how many there were.

    Only the name and the address change: every other byte stays.
    """
    pattern = f'("(?:user_id|id)":"{re.escape(person_id)}","name":){_TEXT}(,"email":){_TEXT}'
    params = {"account": account_id, "person": person_id, "pattern": pattern}
    params["words"] = rf'\1"{name}"\2"{email}"'
    total = 0
    for table in _BODIES:
        ids = [pk for (pk,) in _execute(_FIND.format(table=table), params)]
        for start in range(0, len(ids), BATCH):
            batch = {**params, "ids": ids[start : start + BATCH]}
            _execute(_REWRITE.format(table=table), batch)
        total += len(ids)
    return total


@transaction.atomic
def _remove_batch(account_id: str) -> int:
    ids = [pk for (pk,) in _execute(_ALL, [account_id])]
    remove_deliveries(account_id, ids)
    return len(ids)


def _execute(sql: str, params: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall() if cursor.description else []
