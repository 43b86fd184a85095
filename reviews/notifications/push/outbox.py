"""SQL of the push outbox: claims due pushes. Recording and giving back is as for emails."""

from dataclasses import dataclass
from typing import Any

from django.db import connection

from db.ids import new_id
from reviews.notifications import outbox
from reviews.notifications.outbox import LANGUAGE, WANTED
from reviews.notifications.outbox import give_back as give_back
from reviews.notifications.outbox import record as record
from reviews.notifications.outbox import record_sent as record_sent
from reviews.notifications.push.message import Message, Target, about_request

LEASE = 20.0  # seconds

ANY_DUE = """
EXISTS (SELECT FROM reviews_notification
         WHERE channel = 'push' AND state = 'waiting' AND next_attempt_at <= statement_timestamp())
"""
_CLAIM = f"""
WITH due AS (
    SELECT id, account_id, next_attempt_at,
           row_number() OVER (PARTITION BY host ORDER BY next_attempt_at) AS place
      FROM (SELECT n.id, n.account_id, n.next_attempt_at, d.host
              FROM reviews_notification n
              LEFT JOIN reviews_pushsubscription d ON d.id = n.subscription_id
             WHERE n.channel = 'push' AND n.state = 'waiting'
               AND n.next_attempt_at <= statement_timestamp()
               AND NOT coalesce(d.host, '') = ANY (%(busy)s::text[])
             ORDER BY n.next_attempt_at LIMIT 5000) oldest
), turns AS (  -- accounts take turns
    SELECT id, account_id, next_attempt_at,
           row_number() OVER (PARTITION BY account_id ORDER BY next_attempt_at) AS turn
      FROM due WHERE place <= %(per_host)s::int
), picked AS (
    SELECT id, account_id FROM turns ORDER BY turn, next_attempt_at LIMIT %(limit)s::int
), held AS (  -- two workers never wait for one another
    SELECT id, account_id FROM reviews_notification
     WHERE (id, account_id) IN (TABLE picked)
       AND state = 'waiting' AND next_attempt_at <= statement_timestamp()
       FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE reviews_notification
       SET claim_id = %(claim)s::text,
           next_attempt_at = statement_timestamp() + make_interval(secs => %(lease)s::float)
     WHERE (id, account_id) IN (TABLE held)
    RETURNING id, account_id, request_id, recipient_id, subscription_id, failed_attempts, call_id
)
SELECT n.id, n.account_id, n.request_id, n.failed_attempts, n.call_id,
       d.id, d.endpoint, d.host, d.p256dh, d.auth, l.name, {LANGUAGE},
       left(r.request_text, 500), r.priority,
       extract(epoch FROM r.timeout_at - statement_timestamp())::float,
       {WANTED}
  FROM claimed n
  JOIN reviews_request r ON r.id = n.request_id AND r.creator_id = n.account_id
  JOIN loops_loop l ON l.id = r.loop_id
  LEFT JOIN reviews_pushsubscription d
    ON d.id = n.subscription_id AND d.user_id = n.recipient_id AND d.is_on
  LEFT JOIN accounts_user u ON u.id = n.recipient_id
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Item(outbox.Item):
    """A claimed push: what to say to which subscription.

    The message is None where it is stale: the request has ended, or the membership is gone. The
    target is None where the subscription is gone or off.
    """

    target: Target | None
    message: Message | None
    call_id: str | None = None

    @property
    def can_be_sent(self) -> bool:
        return self.target is not None and self.message is not None

    @property
    def host(self) -> str:
        """The push service's host; empty where the subscription is gone."""
        return self.target.host if self.target else ""


def claim_due(limit: int, *, per_host: int, busy_hosts: list[str]) -> list[Item]:
    """Leases up to `limit` due pushes: up to `per_host` of each host, none of busy ones."""
    claim_id = new_id()
    params: dict[str, Any] = {
        "claim": claim_id,
        "lease": LEASE,
        "limit": limit,
        "per_host": per_host,
        "busy": busy_hosts,
    }
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, params)
        return [_item(claim_id, *row) for row in cursor.fetchall()]


def _item(
    claim_id: str,
    pk: str,
    account_id: str,
    request_id: str,
    failed: int,
    call_id: str | None,
    *row: Any,
) -> Item:
    target = Target(*row[:5]) if row[0] else None
    loop_name, language, text, priority, seconds_left, is_wanted = row[5:]
    if not is_wanted:
        return Item(pk, claim_id, account_id, request_id, failed, target, None, call_id)
    message = about_request(
        request_id=request_id,
        loop_name=loop_name,
        text=text,
        priority=priority,
        seconds_left=seconds_left,
        language=language,
    )
    return Item(pk, claim_id, account_id, request_id, failed, target, message, call_id)
