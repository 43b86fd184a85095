"""SQL of the queue of emails: inserts, claims, records outcomes, gives claims back.

As in `webhooks.outbox`, a claim leases emails under a fresh claim id, and every later write is
fenced by it: a process that has lost its lease writes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from db.ids import new_id

LEASE = 300.0  # seconds
MAX_WAITING = 10_000

_ENQUEUE = """
INSERT INTO mailing_queuedmail (id, sealed, next_attempt_at, failed_attempts, created_at,
                                expires_at)
SELECT %(id)s, %(sealed)s, statement_timestamp(), 0, statement_timestamp(),
       statement_timestamp() + make_interval(secs => %(life)s::float)
 WHERE (SELECT count(*) FROM (SELECT 1 FROM mailing_queuedmail LIMIT %(most)s::int) AS waiting)
       < %(most)s::int
"""
ANY_DUE = """
EXISTS (SELECT FROM mailing_queuedmail WHERE next_attempt_at <= statement_timestamp())
"""
_CLAIM = """
WITH due AS (  -- two workers never wait for one another
    SELECT id FROM mailing_queuedmail WHERE next_attempt_at <= statement_timestamp()
     ORDER BY next_attempt_at LIMIT %(limit)s::int FOR UPDATE SKIP LOCKED
)
UPDATE mailing_queuedmail AS mail
   SET claim_id = %(claim)s::text,
       next_attempt_at = statement_timestamp() + make_interval(secs => %(lease)s::float)
  FROM due WHERE mail.id = due.id
RETURNING mail.id, mail.sealed, mail.failed_attempts, mail.expires_at <= statement_timestamp()
"""
_LATER = """
UPDATE mailing_queuedmail
   SET claim_id = NULL, failed_attempts = failed_attempts + 1,
       next_attempt_at = statement_timestamp() + make_interval(secs => %(delay)s::float)
 WHERE id = %(id)s::text AND claim_id = %(claim)s::text
   AND expires_at > statement_timestamp() + make_interval(secs => %(delay)s::float)
"""
_REMOVE = "DELETE FROM mailing_queuedmail WHERE id = %(id)s::text AND claim_id = %(claim)s::text"
_GIVE_BACK = """
UPDATE mailing_queuedmail SET claim_id = NULL, next_attempt_at = statement_timestamp()
 WHERE id = ANY (%(ids)s::text[]) AND claim_id = %(claim)s::text
"""


class QueueFull(OSError):
    """As many emails as may wait are waiting. To callers it is an unreachable mail server."""


@dataclass(frozen=True, slots=True)
class Item:
    """A claimed email. One that `is_late` has expired, and is not sent."""

    mail_id: str
    claim_id: str
    sealed: bytes
    failed_attempts: int
    is_late: bool


def enqueue(sealed: bytes, *, life: float) -> None:
    """Inserts an email, in the caller's transaction; it is of use for `life` seconds.

    Raises QueueFull.
    """
    params = {"id": new_id(), "sealed": sealed, "life": life, "most": MAX_WAITING}
    if not _execute(_ENQUEUE, params):
        raise QueueFull("Too many emails are waiting to be sent.")


def claim_due(limit: int) -> list[Item]:
    """Leases up to `limit` due emails, the oldest first."""
    claim_id = new_id()
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, {"claim": claim_id, "limit": limit, "lease": LEASE})
        rows = sorted(cursor.fetchall())
    return [
        Item(pk, claim_id, bytes(sealed), failed, is_late) for pk, sealed, failed, is_late in rows
    ]


def record(item: Item, *, delay: float | None) -> bool:
    """Makes an email due again in `delay` seconds; deletes it if that is None, or after its life.

    Returns whether it is still waiting.
    """
    fence = {"id": item.mail_id, "claim": item.claim_id}
    if delay is not None and _execute(_LATER, {**fence, "delay": delay}):
        return True
    _execute(_REMOVE, fence)
    return False


def give_back(items: Sequence[Item]) -> None:
    """Undoes the claims of emails of one claim, none of which was attempted."""
    if items:
        ids = [item.mail_id for item in items]
        _execute(_GIVE_BACK, {"ids": ids, "claim": items[0].claim_id})


def _execute(sql: str, params: dict[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return int(cursor.rowcount)
