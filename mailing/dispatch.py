"""Sends queued emails, one after another over one connection to the mail server."""

import time
from functools import partial

import structlog
from django.conf import settings
from django.core.mail.backends.base import BaseEmailBackend

from db.outages import Patience, outlast
from mailing import outbox
from mailing.attempt import attempt, judge
from mailing.outbox import LEASE, Item
from mailing.server import close, connect
from web import metrics
from webhooks.engine import Engine

BATCH = 20  # of one claim
log = structlog.get_logger(__name__)


class Dispatcher(Engine):
    """Claims a few due emails at a time and sends them on the caller's thread."""

    def _send_due(self) -> int:
        """Ends with the first email for which the mail server could not be reached."""
        count, goes_on = 0, True
        while goes_on and self.may_claim() and (items := outbox.claim_due(BATCH)):
            goes_on = self._send(items)
            count += len(items)
        return count

    def _send(self, items: list[Item]) -> bool:
        """Attempts what ends within its lease, and gives back the rest.

        Returns whether all were attempted.
        """
        lease_ends = time.monotonic() + LEASE
        begin_by = lease_ends - 3 * settings.EMAIL_TIMEOUT
        patience = Patience(lease_ends, self._stopping)
        server = connect()
        left = list(items)
        try:
            while left and self.may_begin(begin_by):
                if not attempt_and_record(left.pop(0), server, patience):
                    break
        finally:
            outlast(partial(outbox.give_back, left))
            close(server)
        return not left


def attempt_and_record(item: Item, server: BaseEmailBackend, patience: Patience) -> bool:
    """Attempts to send an email and records the outcome; False if the server was not reached.

    A database that is away meanwhile is awaited, because what is not recorded is sent again.
    """
    outcome = attempt(item, server)
    delay = judge(outcome, failed_before=item.failed_attempts)
    is_waiting = outlast(partial(outbox.record, item, delay=delay), patience)
    if outcome.error:
        metrics.note_mail_failure("queue")
        report = log.warning if is_waiting else log.error
        report("mail.not_sent", mail=item.mail_id, error=outcome.error, is_given_up=not is_waiting)
    return outcome.is_connected


DISPATCHER = Dispatcher()
