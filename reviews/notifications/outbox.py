"""SQL that pushes and emails share: records outcomes, gives claims back, removes what is old.

As in `webhooks.outbox`, a claim leases notifications under a fresh claim id, and every later
write is fenced by it: a process that has lost its lease writes nothing.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from accounts.confirmed import CONFIRMED_SQL
from db.ids import owned_id_sql
from loops.active_members import ACTIVE_MEMBERS
from reviews.lifecycle.conditions import OPEN, in_time
from reviews.notifications.outcome import Outcome, Result, State

KEPT_DAYS = 7
BATCH = 5_000  # rows that one statement removes
MAX_ERROR_LENGTH = 500

# Whether a person may get an email about a request: u is the person, `priority` the request's.
MAY_MAIL = f"""
    {CONFIRMED_SQL.format(user="u")}
    AND coalesce((SELECT c.mails FROM reviews_emailpreference c WHERE c.user_id = u.id), 'every')
        = ANY (CASE priority WHEN 'critical' THEN ARRAY['every', 'critical']
                             ELSE ARRAY['every'] END)
"""  # noqa: S608
# Whether they get one first; a person with a device gets a push.
BY_MAIL = f"""
    NOT EXISTS (SELECT 1 FROM reviews_pushsubscription d
                 WHERE d.user_id = u.id AND d.is_on AND %(push)s::boolean)
    AND {MAY_MAIL}
"""  # noqa: S608

# The language of the person.
LANGUAGE = "coalesce(nullif(u.language, ''), u.browser_language)"
# Whether a notification is still wanted: n is the notification, r its request.
WANTED = f"""
    {OPEN} AND {in_time()}
    AND EXISTS (SELECT 1 FROM {ACTIVE_MEMBERS}
                 WHERE m.loop_id = r.loop_id AND m.user_id = n.recipient_id)
"""  # noqa: S608

_SENT = """
WITH done AS (
    UPDATE reviews_notification
       SET state = 'sent', claim_id = NULL, done_at = statement_timestamp(), error = ''
     WHERE id = ANY (%(ids)s::text[]) AND account_id = %(account)s::text
       AND claim_id = %(claim)s::text
    RETURNING subscription_id
), used AS (
    UPDATE reviews_pushsubscription SET last_used_at = statement_timestamp()
     WHERE id IN (SELECT subscription_id FROM done)
       AND (last_used_at IS NULL OR last_used_at < statement_timestamp() - interval '1 hour')
)
UPDATE reviews_request SET notifications_sent = notifications_sent + (SELECT count(*) FROM done)
 WHERE id = %(request)s::text AND creator_id = %(account)s::text
   AND EXISTS (SELECT 1 FROM done WHERE subscription_id IS NOT NULL)
"""

_SOON = "statement_timestamp() + make_interval(secs => %(delay)s::float)"
_LATER = f"""
UPDATE reviews_notification n
   SET claim_id = NULL, failed_attempts = failed_attempts + 1, error = %(error)s::text,
       next_attempt_at = {_SOON}
 WHERE id = %(id)s::text AND account_id = %(account)s::text AND claim_id = %(claim)s::text
   AND EXISTS (SELECT 1 FROM reviews_request r WHERE r.id = n.request_id AND {in_time(_SOON)})
"""  # noqa: S608

# Which push was the last is decided one by one: two statements at once would not see each other.
_DECIDE_ALONE = "SELECT pg_advisory_xact_lock(hashtextextended('last push ' || %(request)s, 0))"
# While the request is open, an email takes the place of the last push that failed for good.
_DROP = f"""
WITH dropped AS (
    UPDATE reviews_notification
       SET state = 'dropped', claim_id = NULL, done_at = statement_timestamp(),
           error = %(error)s::text
     WHERE id = %(id)s::text AND account_id = %(account)s::text AND claim_id = %(claim)s::text
    RETURNING id, account_id, request_id, recipient_id, channel, subscription_id, call_id
), removed AS (
    DELETE FROM reviews_pushsubscription
     WHERE id IN (SELECT subscription_id FROM dropped) AND endpoint = %(gone)s::text
    RETURNING id
)
INSERT INTO reviews_notification (id, account_id, request_id, recipient_id, channel,
                                  next_attempt_at, call_id)
SELECT {owned_id_sql("dropped.account_id")}, dropped.account_id, r.id, u.id, 'mail',
       statement_timestamp(), dropped.call_id
  FROM dropped
  JOIN reviews_request r ON r.id = dropped.request_id AND r.creator_id = dropped.account_id
       AND {OPEN} AND {in_time()}
  JOIN accounts_user u ON u.id = dropped.recipient_id AND u.is_active
 WHERE %(instead)s::boolean AND dropped.channel = 'push'
   AND NOT EXISTS (SELECT 1 FROM reviews_notification other
                    WHERE other.request_id = r.id AND other.recipient_id = u.id
                      AND other.id <> dropped.id AND other.state IN ('waiting', 'sent'))
   AND {MAY_MAIL}
ON CONFLICT DO NOTHING
"""  # noqa: S608

_GIVE_BACK = """
UPDATE reviews_notification SET claim_id = NULL, next_attempt_at = statement_timestamp()
 WHERE id = ANY (%(ids)s::text[]) AND account_id = %(account)s::text
   AND claim_id = %(claim)s::text
"""

_BEFORE = "statement_timestamp() - make_interval(days => %(days)s::int)"
# While its request is open and some days longer, a notification tells its creator who was told.
_TIDY = f"""
DELETE FROM reviews_notification WHERE (id, account_id) IN (
    SELECT id, account_id FROM reviews_notification n
     WHERE done_at < {_BEFORE}
       AND NOT EXISTS (SELECT FROM reviews_request r
                        WHERE r.id = n.request_id AND ({OPEN} OR r.updated_at >= {_BEFORE}))
     ORDER BY done_at LIMIT %(limit)s::int)
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Item:
    """A claimed notification of either channel. The account is that of its request."""

    notification_id: str
    claim_id: str
    account_id: str
    request_id: str
    failed_attempts: int


def record(item: Item, outcome: Outcome, *, state: State, delay: float = 0.0) -> None:
    """Writes how an attempt ended, and the notification's new state; `delay` is in seconds.

    What would be repeated only after its request has ended is dropped instead.
    """
    if state == State.SENT:
        record_sent([item])
    elif state == State.DROPPED:
        _drop(item, outcome, mail_instead=outcome.result != Result.STALE)
    elif not _postpone(item, outcome, delay=delay):
        _drop(item, outcome, mail_instead=True)


def record_sent(items: Sequence[Item]) -> None:
    """Records that notifications of one request and claim were accepted.

    Pushes count in the request's `notifications_sent`.
    """
    first = items[0]
    params = {
        "ids": [item.notification_id for item in items],
        "account": first.account_id,
        "request": first.request_id,
        "claim": first.claim_id,
    }
    _execute(_SENT, params)


def give_back(items: Sequence[Item]) -> None:
    """Undoes claims whose attempt was never begun: the items are due again at once.

    One statement for each account and claim.
    """
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for item in items:
        groups[item.account_id, item.claim_id].append(item.notification_id)
    for (account_id, claim_id), ids in groups.items():
        _execute(_GIVE_BACK, {"ids": ids, "account": account_id, "claim": claim_id})


def remove_old() -> int:
    """Deletes up to BATCH notifications whose requests ended some days ago; returns how many."""
    return _execute(_TIDY, {"days": KEPT_DAYS, "limit": BATCH})


def _postpone(item: Item, outcome: Outcome, *, delay: float) -> bool:
    """Makes a notification due again in `delay` seconds; False where its request ends before."""
    return bool(_execute(_LATER, {**_fence(item, outcome), "delay": delay}))


def _drop(item: Item, outcome: Outcome, *, mail_instead: bool) -> None:
    """Ends a notification, and deletes its subscription where that is gone.

    `mail_instead` lets an email take the place of the last push to a person.
    """
    params = {
        **_fence(item, outcome),
        "gone": outcome.endpoint,
        "instead": mail_instead,
    }
    with transaction.atomic():
        if mail_instead:
            _execute(_DECIDE_ALONE, {"request": item.request_id})
        _execute(_DROP, params)


def _fence(item: Item, outcome: Outcome) -> dict[str, Any]:
    """The parameters that find an item while its claim holds, and the error to keep."""
    return {
        "id": item.notification_id,
        "account": item.account_id,
        "claim": item.claim_id,
        "error": outcome.error[:MAX_ERROR_LENGTH],
    }


def _execute(sql: str, params: dict[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return int(cursor.rowcount)
