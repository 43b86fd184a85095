"""Emails about requests as a channel: one for each person and minute, about all that wait."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar

import structlog
from django.core.mail.backends.base import BaseEmailBackend
from django.db import connection

from mailing.channel import Mail
from mailing.server import Unsent, send
from outbox.channel import ONE_LANE
from outbox.dispatcher import Dispatcher
from outbox.items import Claimed, Item, Outcome, Result
from reviews.notifications.channel import NotificationChannel
from reviews.notifications.mail.message import Letter, Subject, compose
from reviews.notifications.wanted import LANGUAGE, MAY_MAIL, WANTED
from web import metrics
from webhooks.failure_texts import INTERNAL_ERROR, NOT_NEEDED

INTERVAL = 60  # seconds between two emails to the same person
log = structlog.get_logger(__name__)

# Ends what nobody waits for any more, and reads the rest.
_LOAD = f"""
WITH described AS (
    SELECT n.recipient_id, u.email, u.time_zone, {LANGUAGE} AS language, n.id, r.id AS request_id,
           n.failed_attempts, n.call_id, l.name, left(r.request_text, 2000) AS text, r.priority,
           r.timeout_at, {WANTED} AND {MAY_MAIL} AS is_wanted, r.priority_rank
      FROM reviews_notification n
      JOIN reviews_request r ON r.id = n.request_id AND r.creator_id = n.account_id
      JOIN loops_loop l ON l.id = r.loop_id
      JOIN accounts_user u ON u.id = n.recipient_id
     WHERE n.id = ANY (%(ids)s::text[])
), dropped AS (
    UPDATE reviews_notification SET state = 'dropped', claim_id = NULL,
           done_at = statement_timestamp(), error = %(not_needed)s::text
     WHERE id IN (SELECT id FROM described WHERE NOT is_wanted)
), stamped AS (
    INSERT INTO reviews_emailpreference (user_id, mailed_at)
    SELECT DISTINCT recipient_id, statement_timestamp() FROM described WHERE is_wanted
    ON CONFLICT ON CONSTRAINT reviews_emailpreference_pkey
    DO UPDATE SET mailed_at = excluded.mailed_at
)
SELECT recipient_id, email, time_zone, language, id, failed_attempts, call_id,
       request_id, name, text, priority, timeout_at
  FROM described WHERE is_wanted
 ORDER BY recipient_id, priority_rank DESC, timeout_at, request_id
"""  # noqa: S608 (nothing in it comes from outside)


class NotificationMail(NotificationChannel[Letter], Mail[Letter]):
    """The account of the engine is the recipient here: one email to a person is under way."""

    name = "notification mail"
    waiting = "channel = 'mail' AND state = 'waiting'"
    account = "recipient_id"
    lane = ONE_LANE
    joins = "LEFT JOIN reviews_emailpreference AS c ON c.user_id = lanes.account"
    is_open = f"""(c.mailed_at IS NULL
        OR c.mailed_at <= statement_timestamp() - interval '{INTERVAL} seconds')"""
    per_lane = "1"
    together = "entry.recipient_id = picked.account"
    delays: ClassVar[Sequence[int]] = (60, 300, 900, 3600)

    def load(self, claimed: Sequence[Claimed]) -> list[Item[Letter]]:
        with connection.cursor() as cursor:
            params: dict[str, Any] = {
                "ids": [row.id for row in claimed],
                "not_needed": str(NOT_NEEDED),
            }
            cursor.execute(_LOAD, params)
            rows = cursor.fetchall()
        letters = (
            Letter(person, email, zone, language, tuple(Subject(*row[4:]) for row in about))
            for (person, email, zone, language), about in groupby(rows, key=itemgetter(0, 1, 2, 3))
        )
        return [make_item(letter, claimed[0].claim_id) for letter in letters]

    def send_to(self, server: BaseEmailBackend, item: Item[Letter]) -> Outcome:
        letter = item.content
        try:
            send(compose(letter, server), server)
        except Unsent as unsent:
            if not (unsent.is_final and unsent.is_about_content):
                raise
            return self._refuse(item, str(unsent))
        except Exception as error:
            log.exception("mail.failed", recipient=letter.recipient_id)
            return self._refuse(item, INTERNAL_ERROR % {"name": type(error).__name__})
        log.info("mail.sent", recipient=letter.recipient_id)
        return Outcome(Result.SENT)

    def _refuse(self, item: Item[Letter], error: str) -> Outcome:
        """Has each request sent alone: one account's text takes no other account's with it."""
        subjects = item.content.subjects
        if len(subjects) == 1:
            return Outcome(Result.FAILED, error)
        report(item, error)
        alone = (replace(item.content, subjects=(subject,)) for subject in subjects)
        return Outcome(
            Result.RETRY,
            error,
            instead=tuple(
                replace(make_item(letter, item.claim_id), lease_ends=item.lease_ends)
                for letter in alone
            ),
        )

    def note(self, item: Item[Letter], outcome: Outcome, result: Result | None) -> None:
        if outcome.error:
            report(item, outcome.error)


def make_item(letter: Letter, claim_id: str) -> Item[Letter]:
    """The item of one email. Its subjects have failed as often as the one that failed least."""
    call_ids = {subject.call_id for subject in letter.subjects if subject.call_id}
    return Item(
        ids=tuple(subject.notification_id for subject in letter.subjects),
        claim_id=claim_id,
        account=letter.recipient_id,
        lane="",
        content=letter,
        failed_attempts=min(subject.failed_attempts for subject in letter.subjects),
        call_id=",".join(sorted(call_ids)) or None,
    )


def report(item: Item[Any], error: str) -> None:
    metrics.note_mail_failure("requests")
    log.warning("mail.not_sent", recipient=item.account, error=error)


CHANNEL = NotificationMail()
DISPATCHER = Dispatcher(CHANNEL)
