"""E-mails that are due, in SQL: claimed for a person at a time, at most one mail in a minute."""

from dataclasses import dataclass
from typing import Any

from django.db import connection

from db.ids import new_id
from reviews.notifications.outbox import MAIL_INTERVAL, MAIL_LEASE, WANTED

_CLAIM = f"""
WITH people AS (
    SELECT n.recipient_id, min(n.next_attempt_at) AS since
      FROM reviews_notification n
      LEFT JOIN reviews_mailchoice c ON c.user_id = n.recipient_id
     WHERE n.channel = 'mail' AND n.state = 'waiting'
       AND n.next_attempt_at <= statement_timestamp()
       AND (c.mailed_at IS NULL
            OR c.mailed_at <= statement_timestamp() - make_interval(secs => %(interval)s::float))
     GROUP BY n.recipient_id ORDER BY since LIMIT %(most)s::int
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
    RETURNING id, account_id, request_id, recipient_id, failed_attempts
), stamped AS (
    INSERT INTO reviews_mailchoice (user_id, mailed_at)
    SELECT DISTINCT recipient_id, statement_timestamp() FROM claimed
    ON CONFLICT ON CONSTRAINT reviews_mailchoice_pkey DO UPDATE SET mailed_at = excluded.mailed_at
)
SELECT n.id, n.recipient_id, p.email, p.time_zone, n.account_id, n.failed_attempts,
       r.id, l.name, left(r.request_text, 2000), r.priority, r.timeout_at,
       {WANTED}
       AND coalesce((SELECT mails FROM reviews_mailchoice c WHERE c.user_id = p.id), 'every')
           <> 'none'
  FROM claimed n
  JOIN reviews_request r ON r.id = n.request_id AND r.creator_id = n.account_id
  JOIN loops_loop l ON l.id = r.loop_id
  JOIN accounts_user p ON p.id = n.recipient_id
 ORDER BY n.recipient_id, r.priority_rank DESC, r.timeout_at, r.id
"""  # noqa: S608 (nothing in it comes from outside)


@dataclass(frozen=True, slots=True)
class Told:
    """A request as a mail tells of it."""

    notification_id: str
    account_id: str
    failed_attempts: int
    request_id: str
    loop_name: str
    text: str
    priority: str
    timeout_at: Any


@dataclass(frozen=True, slots=True)
class Letter:
    """One e-mail to one person. `moot` are notifications that nobody wants any more, each with
    its account."""

    claim_id: str
    recipient_id: str
    address: str
    time_zone: str
    told: list[Told]
    moot: list[tuple[str, str]]


def claim_letters(most: int) -> list[Letter]:
    """Leases what is due for up to `most` people, the most urgent request first in each."""
    claim_id = new_id()
    params: dict[str, Any] = {
        "claim": claim_id,
        "lease": MAIL_LEASE,
        "interval": MAIL_INTERVAL,
        "most": most,
    }
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, params)
        rows = cursor.fetchall()
    letters: dict[str, Letter] = {}
    for pk, person, address, time_zone, account_id, failed, *about, is_wanted in rows:
        letter = letters.setdefault(person, Letter(claim_id, person, address, time_zone, [], []))
        if is_wanted:
            letter.told.append(Told(pk, account_id, failed, *about))
        else:
            letter.moot.append((pk, account_id))
    return list(letters.values())
