"""Sends due emails, one after another over one connection to the mail server."""

import time
from collections import deque
from dataclasses import replace
from functools import partial

import structlog
from django.conf import settings
from django.core.mail.backends.base import BaseEmailBackend

from db.outages import Patience, outlast
from mailing.server import close, connect
from reviews.notifications.mail import outbox
from reviews.notifications.mail.attempt import DELAYS, attempt
from reviews.notifications.mail.outbox import LEASE, Batch
from reviews.notifications.outcome import STALE, Result, State, judge
from web import metrics
from webhooks.engine import Engine

PEOPLE = 20  # of one claim
log = structlog.get_logger(__name__)


class Dispatcher(Engine):
    """Claims due emails for a few people at a time and sends them on the caller's thread."""

    def _send_due(self) -> int:
        count = 0
        while self.may_claim() and (batches := outbox.claim_due(PEOPLE)):
            self._send(batches)
            count += len(batches)
        return count

    def _send(self, batches: list[Batch]) -> None:
        """Attempts each batch, and gives back those that could outlast their lease."""
        lease_ends = time.monotonic() + LEASE
        begin_by = lease_ends - 3 * settings.EMAIL_TIMEOUT
        patience = Patience(lease_ends, self._stopping)
        server = connect()
        try:
            left = deque(batches)
            while left:
                batch = left.popleft()
                drop_stale(batch)
                if not self.may_begin(begin_by):
                    outlast(partial(outbox.give_back, batch.items))
                elif batch.items:
                    left.extendleft(attempt_and_record(batch, server, patience))
        finally:
            close(server)


def drop_stale(batch: Batch) -> None:
    """Ends the notifications of a batch that nobody waits for any more."""
    for item in batch.stale:
        outlast(partial(outbox.record, item, STALE, state=State.DROPPED))


def attempt_and_record(batch: Batch, server: BaseEmailBackend, patience: Patience) -> list[Batch]:
    """Attempts to send a batch, and records the outcome for each of its items.

    A database that is away meanwhile is awaited, because what is not recorded is sent again.
    Returns the batches to send instead, where the mail server refused what this one says.
    """
    outcome = attempt(batch, server)
    call_ids = ",".join(sorted({item.call_id for item in batch.items if item.call_id}))
    if outcome.result == Result.ACCEPTED:
        log.info("mail.sent", recipient=batch.recipient_id, request_id=call_ids)
    else:
        metrics.note_mail_failure("requests")
        log.warning(
            "mail.not_sent",
            recipient=batch.recipient_id,
            error=outcome.error,
            request_id=call_ids,
        )
    if outcome.result == Result.SPLIT:
        return [replace(batch, items=[item], stale=[]) for item in batch.items]
    for item in batch.items:
        state, delay = judge(outcome, delays=DELAYS, failed_before=item.failed_attempts)
        outlast(partial(outbox.record, item, outcome, state=state, delay=delay), patience)
    return []


DISPATCHER = Dispatcher()
