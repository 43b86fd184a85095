"""Pushes as a channel of the outbox: encrypt, sign, post, and read the push service's response."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, ClassVar

import structlog
from django.conf import settings
from django.db import connection

from db.ids import owned_id_sql
from outbox.dispatcher import Dispatcher
from outbox.items import Claimed, Item, Outcome, Result
from outbox.schedule import read_retry_after
from reviews.lifecycle.conditions import OPEN, in_time
from reviews.notifications.channel import NotificationChannel
from reviews.notifications.push import message as messages
from reviews.notifications.push.message import Message, Target, about_request
from reviews.notifications.wanted import HAS_ANSWERED, LANGUAGE, MAY_MAIL, WANTED
from web import metrics
from webhooks import outbound
from webhooks.failure_texts import DEVICE_GONE, INTERNAL_ERROR, NOT_NEEDED
from webhooks.posting import tls

LEASE = 20.0  # seconds
SECONDS = 5.0  # for a whole exchange with a push service
USER_AGENT = "ReviewLoop-Push/1"
log = structlog.get_logger(__name__)

_LOAD = f"""
SELECT n.id, n.request_id, n.call_id, l.name, {LANGUAGE}, left(r.request_text, 500), r.priority,
       extract(epoch FROM r.timeout_at - statement_timestamp())::float, {WANTED},
       {HAS_ANSWERED},
       d.id, d.endpoint, d.host, d.p256dh, d.auth
  FROM reviews_notification n
  JOIN reviews_request r ON r.id = n.request_id AND r.creator_id = n.account_id
  JOIN loops_loop l ON l.id = r.loop_id
  LEFT JOIN reviews_pushsubscription d
    ON d.id = n.subscription_id AND d.user_id = n.recipient_id AND d.is_on
  LEFT JOIN accounts_user u ON u.id = n.recipient_id
 WHERE n.id = ANY (%(ids)s::text[])
"""  # noqa: S608 (nothing in it comes from outside)
_ACCEPTED = """, used AS (
    UPDATE reviews_pushsubscription SET last_used_at = statement_timestamp()
     WHERE id IN (SELECT subscription_id FROM fenced)
       AND (last_used_at IS NULL OR last_used_at < statement_timestamp() - interval '1 hour')
), counted AS (
    UPDATE reviews_request SET notifications_sent = notifications_sent + 1 FROM fenced
     WHERE reviews_request.id = fenced.request_id AND creator_id = fenced.account_id
)"""
# While the request is open, an email takes the place of the last push that failed for good. A push
# that is not sent because its person has answered counts as sent: otherwise the number would tell
# the account who has answered a blind request. For the same reason an email is queued for that
# person, too, and is not sent (`mail.channel`).
_FAILED = f""", counted AS (
    UPDATE reviews_request SET notifications_sent = notifications_sent + 1 FROM fenced
     WHERE %(has_answered)s::boolean
       AND reviews_request.id = fenced.request_id AND creator_id = fenced.account_id
), removed AS (
    DELETE FROM reviews_pushsubscription
     WHERE id IN (SELECT subscription_id FROM fenced) AND endpoint = %(gone)s::text
), mailed AS (
    INSERT INTO reviews_notification (id, account_id, request_id, recipient_id, channel,
                                      next_attempt_at, call_id)
    SELECT {owned_id_sql("fenced.account_id")}, fenced.account_id, r.id, u.id, 'mail',
           statement_timestamp(), fenced.call_id
      FROM fenced
      JOIN reviews_request r ON r.id = fenced.request_id AND r.creator_id = fenced.account_id
           AND {OPEN} AND {in_time()}
      JOIN accounts_user u ON u.id = fenced.recipient_id AND u.is_active
     WHERE %(is_wanted)s::boolean
       AND NOT EXISTS (SELECT 1 FROM reviews_notification other
                        WHERE other.request_id = r.id AND other.recipient_id = u.id
                          AND other.id <> fenced.id AND other.state IN ('waiting', 'sent'))
       AND {MAY_MAIL}
    ON CONFLICT DO NOTHING
)"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Push:
    """What to say to which subscription.

    The message is None where nobody waits for it any more: the request has ended, the membership is
    gone, or the person has answered. The target is None where the subscription is gone or off.
    """

    request_id: str
    message: Message | None
    target: Target | None
    has_answered: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an outcome says of the subscription: `kind` is 'accepted', 'retry', 'rejected', 'gone',
    'stale' or 'answered', and `endpoint` that of a subscription that has ended."""

    kind: str
    endpoint: str = ""


class PushChannel(NotificationChannel[Push]):
    """Pushes: a lane is the host of a push service, which all accounts share."""

    name = "push"
    waiting = "channel = 'push' AND state = 'waiting'"
    lane = "lane"
    # which push was the last is decided one by one: two at once would not see each other
    before_failing = (
        "SELECT pg_advisory_xact_lock(hashtextextended('last push ' || %(request)s, 0))"
    )
    follows: ClassVar[Mapping[Result, str]] = MappingProxyType(
        {Result.SENT: _ACCEPTED, Result.FAILED: _FAILED}
    )
    delays: ClassVar[Sequence[int]] = (2, 5, 15, 30, 60, 120, 300, 600, 600, 600, 600)
    threads = 16
    lease = LEASE
    longest = SECONDS
    has_lane_share = True
    records_apart = True  # a web process has few connections

    def load(self, claimed: Sequence[Claimed]) -> list[Item[Push]]:
        with connection.cursor() as cursor:
            cursor.execute(_LOAD, {"ids": [row.id for row in claimed]})
            found = {row[0]: row[1:] for row in cursor.fetchall()}
        items = []
        for row in claimed:
            request_id, call_id, loop_name, language, text, priority, left, *rest = found[row.id]
            is_wanted, has_answered, *target = rest
            message = about_request(
                request_id=request_id,
                loop_name=loop_name,
                text=text,
                priority=priority,
                seconds_left=left,
                language=language,
            )
            push = Push(
                request_id,
                message if is_wanted else None,
                Target(*target) if target[0] else None,
                has_answered,
            )
            items.append(row.to_item(push, call_id))
        return items

    def send(self, item: Item[Push], stopping: threading.Event) -> Outcome:
        message, target = item.content.message, item.content.target
        if message is None:
            kind = "answered" if item.content.has_answered else "stale"
            return Outcome(Result.FAILED, str(NOT_NEEDED), details=Verdict(kind))
        if target is None:
            return Outcome(Result.FAILED, str(DEVICE_GONE), details=Verdict("gone"))
        return post(message, target)

    def params(self, item: Item[Push], outcome: Outcome) -> dict[str, Any]:
        verdict: Verdict = outcome.details
        return {
            **super().params(item, outcome),
            "request": item.content.request_id,
            "gone": verdict.endpoint,
            "is_wanted": verdict.kind not in ("stale", "answered"),
            "has_answered": verdict.kind == "answered",
        }

    def note(self, item: Item[Push], outcome: Outcome, result: Result | None) -> None:
        verdict: Verdict = outcome.details
        metrics.note_push(verdict.kind)
        log.info(
            "push.accepted" if outcome.result == Result.SENT else "push.failed",
            request=item.content.request_id,
            subscription=item.content.target.subscription_id if item.content.target else None,
            result=verdict.kind,
            state=result.value if result else "lease lost",
            error=outcome.error,
        )


def post(message: Message, target: Target) -> Outcome:
    """Posts a message to a push service. Never raises: every failure is an outcome."""
    try:
        response = outbound.post(
            target.endpoint,
            body=messages.encrypt(message.payload, target),
            headers={"User-Agent": USER_AGENT, **messages.headers(message, target)},
            seconds=SECONDS,
            opened=settings.PUSH_OPEN_NETWORKS,
            tls=tls(),
        )
    except outbound.Refused as error:
        return Outcome(Result.FAILED, str(error), details=Verdict("rejected"))
    except outbound.Unreachable as error:
        return Outcome(Result.RETRY, str(error), is_unreachable=True, details=Verdict("retry"))
    except Exception as error:
        log.exception("push.failed", subscription=target.subscription_id)
        text = INTERNAL_ERROR % {"name": type(error).__name__}
        return Outcome(Result.FAILED, text, details=Verdict("rejected"))
    asked = read_retry_after(response.headers.get("retry-after"), now=datetime.now(UTC))
    return judge_status(response.status, endpoint=target.endpoint, retry_after=asked)


def judge_status(status: int, *, endpoint: str, retry_after: float | None = None) -> Outcome:
    """What a push service's status means (RFC 8030).

    404 and 410 are for subscriptions that have ended; 429 and 5xx pass.
    """
    if 200 <= status < 300:
        return Outcome(Result.SENT, details=Verdict("accepted"))
    error = f"HTTP {status}"
    if status in (404, 410):
        return Outcome(Result.FAILED, error, details=Verdict("gone", endpoint))
    if status == 429 or status >= 500:
        return Outcome(Result.RETRY, error, retry_after, details=Verdict("retry"))
    return Outcome(Result.FAILED, error, details=Verdict("rejected"))


CHANNEL = PushChannel()
DISPATCHER = Dispatcher(CHANNEL)
