"""What is still to be told, in SQL: obliged with the request, claimed, recorded.

A claim leases its rows under a fresh claim id, and a record is fenced by it, as in
`webhooks.outbox`: who has lost the lease writes nothing, and who dies is replaced.
"""

from dataclasses import dataclass
from typing import Any

from django.db import connection

from db.ids import new_id, owned_id_sql
from loops.active_members import ACTIVE_MEMBERS
from reviews.lifecycle.conditions import OPEN, in_time
from reviews.models import Request
from reviews.notifications import vapid
from reviews.notifications.message import Message, Target, about_request

PUSH_SECONDS = 5.0  # for a whole exchange with a push service
PUSH_LEASE = 20.0  # seconds
MAIL_INTERVAL = 60  # seconds between two e-mails to the same person
MAIL_LEASE = 300.0  # seconds
KEPT_DAYS = 7
MAX_ERROR_LENGTH = 500

# Who gets an e-mail about a request: u is the person, and `priority` the request's.
_BY_MAIL = """
    NOT EXISTS (SELECT 1 FROM reviews_device d
                     WHERE d.user_id = u.id AND d.is_on AND %(push)s::boolean)
    AND EXISTS (SELECT 1 FROM account_emailaddress a
                 WHERE a.user_id = u.id AND lower(a.email) = lower(u.email) AND a.verified)
    AND coalesce((SELECT c.mails FROM reviews_mailchoice c WHERE c.user_id = u.id), 'every')
        = ANY (CASE priority WHEN 'critical' THEN ARRAY['every', 'critical']
                             ELSE ARRAY['every'] END)
"""

# Follows a CTE `made (id, creator_id, loop_id, priority)` in the statement that inserts requests.
# Takes the parameters of `obligation()`. `pushes.jobs` is null, or what `read_jobs` reads: pushes
# that are leased to this process from the beginning, to be sent as soon as the transaction is
# committed.
OBLIGE = f"""
pushed AS (
    INSERT INTO reviews_notification (id, account_id, request_id, recipient_id, channel, device_id,
                                      claim_id, next_attempt_at)
    SELECT {owned_id_sql("made.creator_id")}, made.creator_id, made.id, u.id, 'push', d.id,
           %(push_claim)s::text,
           statement_timestamp() + make_interval(secs => %(push_lease)s::float)
      FROM made
      JOIN {ACTIVE_MEMBERS} ON m.loop_id = made.loop_id
      JOIN reviews_device d ON d.user_id = u.id AND d.is_on
     WHERE %(push)s::boolean
    RETURNING id, request_id, device_id
), mailed AS (
    INSERT INTO reviews_notification (id, account_id, request_id, recipient_id, channel,
                                      next_attempt_at)
    SELECT {owned_id_sql("made.creator_id")}, made.creator_id, made.id, u.id, 'mail',
           statement_timestamp()
      FROM made
      JOIN {ACTIVE_MEMBERS} ON m.loop_id = made.loop_id
     WHERE {_BY_MAIL}
), pushes AS (
    SELECT json_agg(json_build_array(
               pushed.id, l.name, d.id, d.endpoint, d.host, d.p256dh, d.auth)) AS jobs
      FROM pushed
      JOIN reviews_device d ON d.id = pushed.device_id
      JOIN made ON made.id = pushed.request_id
      JOIN loops_loop l ON l.id = made.loop_id
)
"""  # noqa: S608 (nothing in it comes from outside)

# Whether somebody still wants to be told: n is the notification, r its request.
WANTED = f"""
    {OPEN} AND {in_time()}
    AND EXISTS (SELECT 1 FROM {ACTIVE_MEMBERS}
                 WHERE m.loop_id = r.loop_id AND m.user_id = n.recipient_id)
"""  # noqa: S608

_CLAIM_PUSHES = f"""
WITH due AS (
    SELECT n.id, n.account_id, n.next_attempt_at,
           row_number() OVER (PARTITION BY d.host ORDER BY n.next_attempt_at) AS place
      FROM (SELECT id, account_id, device_id, next_attempt_at FROM reviews_notification
             WHERE channel = 'push' AND state = 'waiting'
               AND next_attempt_at <= statement_timestamp()
             ORDER BY next_attempt_at LIMIT 5000) n
      LEFT JOIN reviews_device d ON d.id = n.device_id
     WHERE NOT coalesce(d.host, '') = ANY (%(busy)s::text[])
), picked AS (
    SELECT id, account_id FROM due WHERE place <= %(per_host)s::int ORDER BY next_attempt_at
     LIMIT %(most)s::int
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
    RETURNING id, account_id, request_id, recipient_id, device_id, failed_attempts
)
SELECT n.id, n.account_id, n.request_id, n.failed_attempts, d.id, d.endpoint, d.host, d.p256dh,
       d.auth, l.name, left(r.request_text, 500), r.priority,
       extract(epoch FROM r.timeout_at - statement_timestamp())::float,
       d.id IS NOT NULL AND {WANTED}
  FROM claimed n
  JOIN reviews_request r ON r.id = n.request_id AND r.creator_id = n.account_id
  JOIN loops_loop l ON l.id = r.loop_id
  LEFT JOIN reviews_device d ON d.id = n.device_id AND d.user_id = n.recipient_id AND d.is_on
"""  # noqa: S608

_SENT = """
WITH done AS (
    UPDATE reviews_notification
       SET state = 'sent', claim_id = NULL, done_at = statement_timestamp(), error = ''
     WHERE id = ANY (%(ids)s::text[]) AND account_id = %(account)s::text
       AND claim_id = %(claim)s::text
    RETURNING device_id
), used AS (
    UPDATE reviews_device SET last_used_at = statement_timestamp()
     WHERE id IN (SELECT device_id FROM done)
       AND (last_used_at IS NULL OR last_used_at < statement_timestamp() - interval '1 hour')
)
UPDATE reviews_request SET notifications_sent = notifications_sent + (SELECT count(*) FROM done)
 WHERE id = %(request)s::text AND creator_id = %(account)s::text
   AND EXISTS (SELECT 1 FROM done WHERE device_id IS NOT NULL)
"""

_SOON = "statement_timestamp() + make_interval(secs => %(delay)s::float)"
_LATER = f"""
UPDATE reviews_notification n
   SET claim_id = NULL, failed_attempts = failed_attempts + 1, error = %(error)s::text,
       next_attempt_at = {_SOON}
 WHERE id = %(id)s::text AND account_id = %(account)s::text AND claim_id = %(claim)s::text
   AND EXISTS (SELECT 1 FROM reviews_request r WHERE r.id = n.request_id AND {in_time(_SOON)})
"""  # noqa: S608

# Where the last push to a person has failed for good, an e-mail takes its place.
_DROP = f"""
WITH dropped AS (
    UPDATE reviews_notification
       SET state = 'dropped', claim_id = NULL, done_at = statement_timestamp(),
           error = %(error)s::text
     WHERE id = %(id)s::text AND account_id = %(account)s::text AND claim_id = %(claim)s::text
    RETURNING id, account_id, request_id, recipient_id, channel, device_id
), removed AS (
    DELETE FROM reviews_device
     WHERE id IN (SELECT device_id FROM dropped) AND endpoint = %(gone)s::text
    RETURNING id
)
INSERT INTO reviews_notification (id, account_id, request_id, recipient_id, channel,
                                  next_attempt_at)
SELECT {owned_id_sql("dropped.account_id")}, dropped.account_id, r.id, u.id, 'mail',
       statement_timestamp()
  FROM dropped
  JOIN reviews_request r ON r.id = dropped.request_id AND r.creator_id = dropped.account_id
  JOIN accounts_user u ON u.id = dropped.recipient_id AND u.is_active
 WHERE %(instead)s::boolean AND dropped.channel = 'push'
   AND NOT EXISTS (SELECT 1 FROM reviews_notification other
                    WHERE other.request_id = r.id AND other.recipient_id = u.id
                      AND other.id <> dropped.id AND other.state IN ('waiting', 'sent'))
   AND {_BY_MAIL.replace("d.is_on", "d.is_on AND d.id <> dropped.device_id")}
ON CONFLICT DO NOTHING
"""  # noqa: S608

_GIVE_BACK = """
UPDATE reviews_notification SET claim_id = NULL, next_attempt_at = statement_timestamp()
 WHERE id = ANY (%(ids)s::text[]) AND account_id = %(account)s::text
   AND claim_id = %(claim)s::text
"""


@dataclass(frozen=True, slots=True)
class Job:
    """A leased push: what to say to which device. `message` is None where nobody wants it any
    more: the request ended, the device or the membership is gone."""

    notification_id: str
    claim_id: str
    account_id: str
    request_id: str
    failed_attempts: int
    target: Target | None
    message: Message | None


def obligation() -> dict[str, Any]:
    """The parameters of OBLIGE, with a claim of their own."""
    return {"push": vapid.is_on(), "push_claim": new_id(), "push_lease": PUSH_LEASE}


def read_jobs(jobs: list[Any] | None, request: Request, *, claim_id: str) -> list[Job]:
    """The pushes of a request that was just created, from `pushes.jobs`."""
    if not jobs:
        return []
    message = about_request(
        request_id=request.pk,
        loop_name=jobs[0][1],
        text=request.request_text,
        priority=request.priority,
        seconds_left=request.timeout_seconds,
    )
    account_id = request.creator_id
    return [
        Job(pk, claim_id, account_id, request.pk, 0, Target(*device), message)
        for pk, _, *device in jobs
    ]


def claim_pushes(most: int, *, per_host: int, busy: list[str]) -> list[Job]:
    """Leases up to `most` pushes that are due, up to `per_host` of a host, none of `busy` ones."""
    claim_id = new_id()
    params: dict[str, Any] = {
        "claim": claim_id,
        "lease": PUSH_LEASE,
        "most": most,
        "per_host": per_host,
        "busy": busy,
    }
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM_PUSHES, params)
        return [_job(claim_id, *row) for row in cursor.fetchall()]


def _job(claim_id: str, pk: str, account_id: str, request_id: str, failed: int, *row: Any) -> Job:
    device, (loop_name, text, priority, seconds_left, is_wanted) = row[:5], row[5:]
    if not is_wanted:
        return Job(pk, claim_id, account_id, request_id, failed, None, None)
    message = about_request(
        request_id=request_id,
        loop_name=loop_name,
        text=text,
        priority=priority,
        seconds_left=seconds_left,
    )
    return Job(pk, claim_id, account_id, request_id, failed, Target(*device), message)


def record_sent(ids: list[str], *, account_id: str, request_id: str, claim_id: str) -> None:
    """Notifications of one request that got through; pushes count for `notifications_sent`."""
    params = {"ids": ids, "account": account_id, "request": request_id, "claim": claim_id}
    _execute(_SENT, params)


def record_later(pk: str, *, account_id: str, claim_id: str, delay: float, error: str) -> bool:
    """A failure that is tried again in `delay` seconds; False where the request ends before."""
    params = {
        "id": pk,
        "account": account_id,
        "claim": claim_id,
        "delay": delay,
        "error": error[:MAX_ERROR_LENGTH],
    }
    return bool(_execute(_LATER, params))


def record_dropped(
    pk: str,
    *,
    account_id: str,
    claim_id: str,
    error: str,
    gone: str = "",
    instead: bool = False,
) -> None:
    """The end of it. `gone` is the endpoint of a subscription that ended, which is removed;
    `instead` lets an e-mail take the place of the last push to a person."""
    params = {
        "id": pk,
        "account": account_id,
        "claim": claim_id,
        "error": error[:MAX_ERROR_LENGTH],
        "gone": gone,
        "instead": instead,
        "push": vapid.is_on(),
    }
    _execute(_DROP, params)


def give_back(ids: list[str], *, account_id: str, claim_id: str) -> None:
    """Undoes a claim without an attempt: due again at once."""
    _execute(_GIVE_BACK, {"ids": ids, "account": account_id, "claim": claim_id})


def _execute(sql: str, params: dict[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return int(cursor.rowcount)


_TIDY = """
DELETE FROM reviews_notification WHERE (id, account_id) IN (
    SELECT id, account_id FROM reviews_notification
     WHERE done_at < statement_timestamp() - make_interval(days => %(days)s::int)
     ORDER BY done_at LIMIT %(most)s::int)
"""


def remove_old(most: int = 5000) -> int:
    """Forgets up to `most` notifications that were done some days ago; returns how many."""
    return _execute(_TIDY, {"days": KEPT_DAYS, "most": most})
