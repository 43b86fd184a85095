"""Keeps the responses to calls with an Idempotency-Key, so that a repeated call changes nothing.

A response is stored in the transaction of its call's changes: both are committed, or neither is. A
lock shows whether the first call is still running. It ends with the transaction, also if the
process is killed.
"""

from dataclasses import dataclass
from typing import Any

from django.db import connection

LIFE_HOURS = 24
BATCH = 1_000

_LOCK = "SELECT pg_try_advisory_xact_lock(hashtextextended(%(account)s || %(key)s, 0))"
_FIND = """
SELECT fingerprint, status, body FROM accounts_storedresponse
 WHERE account_id = %(account)s AND key = %(key)s
   AND created_at > statement_timestamp() - make_interval(hours => %(hours)s)
"""
_STORE = """
INSERT INTO accounts_storedresponse (account_id, key, fingerprint, status, body, created_at)
VALUES (%(account)s, %(key)s, %(fingerprint)s, %(status)s, %(body)s, statement_timestamp())
ON CONFLICT ON CONSTRAINT accounts_storedresponse_pkey DO UPDATE
   SET fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
       created_at = excluded.created_at
"""  # an existing row has expired
_FORGET = """
DELETE FROM accounts_storedresponse WHERE (account_id, key) IN (
    SELECT account_id, key FROM accounts_storedresponse
     WHERE created_at <= statement_timestamp() - make_interval(hours => %(hours)s)
     ORDER BY created_at LIMIT %(limit)s)
"""


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored response. `fingerprint` distinguishes calls with the same key."""

    fingerprint: bytes
    status: int
    body: bytes


def find_response(*, account_id: str, key: str) -> Stored | None:
    """Returns the response stored under the account's key in the last 24 hours, or None."""
    with connection.cursor() as cursor:
        cursor.execute(_FIND, {"account": account_id, "key": key, "hours": LIFE_HOURS})
        row = cursor.fetchone()
    return Stored(bytes(row[0]), row[1], bytes(row[2])) if row else None


def lock_key(*, account_id: str, key: str) -> bool:
    """Locks the account's key until the transaction ends; False if another call holds it."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, {"account": account_id, "key": key})
        (is_locked,) = cursor.fetchone()
    return bool(is_locked)


def store_response(stored: Stored, *, account_id: str, key: str) -> None:
    """Stores a response under the account's key, which is locked."""
    params: dict[str, Any] = {"fingerprint": stored.fingerprint, "body": stored.body}
    params |= {"account": account_id, "key": key, "status": stored.status}
    with connection.cursor() as cursor:
        cursor.execute(_STORE, params)


def forget_old() -> int:
    """Deletes up to BATCH responses that are older than 24 hours; returns how many."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET, {"hours": LIFE_HOURS, "limit": BATCH})
        return int(cursor.rowcount)
