"""SQL of the email outbox: claims due emails, by person. Recording and giving back is shared."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection

from db.ids import new_id
from reviews.notifications import outbox
from reviews.notifications.outbox import LANGUAGE, MAY_MAIL, WANTED
from reviews.notifications.outbox import give_back as give_back
from reviews.notifications.outbox import record as record

INTERVAL = 60  # seconds between two emails to the same person
LEASE = 300.0  # seconds

_DUE = f"""
    reviews_notification n LEFT JOIN reviews_emailpreference c ON c.user_id = n.recipient_id
     WHERE n.channel = 'mail' AND n.state = 'waiting'
       AND n.next_attempt_at <= statement_timestamp()
       AND (c.mailed_at IS NULL
            OR c.mailed_at <= statement_timestamp() - interval '{INTERVAL} seconds')
"""
ANY_DUE = f"EXISTS (SELECT FROM {_DUE})"
_CLAIM = f"""
WITH people AS (
    SELECT n.recipient_id, min(n.next_attempt_at) AS since
      FROM {_DUE}
     GROUP BY n.recipient_id ORDER BY since LIMIT %(limit)s::int
), held AS (
    SELECT id, account_id FROM reviews_notification
     WHERE channel = 'mail' AND state = 'waiting' AND next_attempt_at <= statement_timestamp()
       AND recipient_id IN (SELECT recipient_id FROM people)
       FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE reviews_notification
       SET claim_id = %(claim)s::text,
           next_attempt_at = statement_timestamp() + make_interval(secs => %(lease)s::float)
     WHERE (id, account_id) IN (TABLE held)
    RETURNING id, account_id, request_id, recipient_id, failed_attempts, call_id
), described AS (
    SELECT n.recipient_id, u.email, u.time_zone, {LANGUAGE} AS language,
           n.id, n.account_id, r.id AS request_id, n.failed_attempts,
           l.name, left(r.request_text, 2000) AS text, r.priority, r.timeout_at, n.call_id,
           {WANTED} AND {MAY_MAIL} AS is_wanted, r.priority_rank
      FROM claimed n
      JOIN reviews_request r ON r.id = n.request_id AND r.creator_id = n.account_id
      JOIN loops_loop l ON l.id = r.loop_id
      JOIN accounts_user u ON u.id = n.recipient_id
), stamped AS (
    INSERT INTO reviews_emailpreference (user_id, mailed_at)
    SELECT DISTINCT recipient_id, statement_timestamp() FROM described WHERE is_wanted
    ON CONFLICT ON CONSTRAINT reviews_emailpreference_pkey
    DO UPDATE SET mailed_at = excluded.mailed_at
)
SELECT recipient_id, email, time_zone, language, id, account_id, request_id, failed_attempts,
       name, text, priority, timeout_at, call_id, is_wanted
  FROM described
 ORDER BY recipient_id, priority_rank DESC, timeout_at, request_id
"""  # noqa: S608 (nothing in it comes from outside)


@dataclass(frozen=True, slots=True)
class Item(outbox.Item):
    """A claimed notification, with what an email says of its request."""

    loop_name: str
    text: str
    priority: str
    timeout_at: datetime
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """One email to one person, with an item for each request; the most urgent one comes first.

    `stale` items are those that nobody waits for any more: they are dropped.
    """

    recipient_id: str
    email: str
    time_zone: str
    language: str
    items: list[Item] = field(default_factory=list)
    stale: list[Item] = field(default_factory=list)


def claim_due(limit: int) -> list[Batch]:
    """Leases what is due for up to `limit` people, who had no email for a minute."""
    claim_id = new_id()
    params: dict[str, Any] = {
        "claim": claim_id,
        "lease": LEASE,
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, params)
        rows = cursor.fetchall()
    batches: dict[str, Batch] = {}
    for recipient_id, email, time_zone, language, pk, *about, is_wanted in rows:
        batch = batches.setdefault(recipient_id, Batch(recipient_id, email, time_zone, language))
        item = Item(pk, claim_id, *about)
        (batch.items if is_wanted else batch.stale).append(item)
    return list(batches.values())
