"""What all emails share as channels of the outbox, and the channel of queued emails."""

import threading
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import structlog
from django.conf import settings
from django.core.mail.backends.base import BaseEmailBackend
from django.db import connection

from accounts import vault
from mailing.server import Unsent, close, connect, send
from mailing.stored_message import to_message
from outbox.channel import ONE_LANE, Channel
from outbox.dispatcher import Dispatcher
from outbox.items import C, Claimed, Item, Outcome, Result
from outbox.recording import SOON
from web import metrics

DELAYS = (5, 15, 60, 300, 900, 1800, 3600, 7200, 14_400, 28_800)  # within a day
LEASE = 300.0  # seconds
log = structlog.get_logger(__name__)

_LOAD = """
SELECT id, sealed, expires_at <= statement_timestamp()
  FROM mailing_queuedmail WHERE id = ANY (%(ids)s::text[])
"""


class Mail(Channel[C]):
    """Sends emails one after another over one connection to the mail server."""

    prefetch = 20
    lease = LEASE
    threads = 1

    def __init__(self) -> None:
        self._server: BaseEmailBackend | None = None

    @property
    def longest(self) -> float:
        return 3.0 * settings.EMAIL_TIMEOUT

    def send(self, item: Item[C], stopping: threading.Event) -> Outcome:
        self._server = self._server or connect()
        try:
            return self.send_to(self._server, item)
        except Unsent as unsent:
            result = Result.FAILED if unsent.is_final else Result.RETRY
            return Outcome(result, str(unsent), stops_run=not unsent.is_connected, details=unsent)

    @abstractmethod
    def send_to(self, server: BaseEmailBackend, item: Item[C]) -> Outcome:
        """Sends an email. Raises Unsent."""

    def rest(self) -> None:
        if self._server is not None:
            close(self._server)
            self._server = None


@dataclass(frozen=True, slots=True)
class Sealed:
    """An encrypted email; one that `is_late` has expired, and is not sent."""

    email: bytes
    is_late: bool


class AccountMail(Mail[Sealed]):
    """Emails that web requests have inserted. The row goes when the email is sent or given up."""

    name = "mail"
    table = "mailing_queuedmail"
    waiting = "true"
    account = lane = ONE_LANE
    sent = failed = "DELETE FROM mailing_queuedmail AS entry"
    in_time = f"entry.expires_at > {SOON}"
    delays: ClassVar[Sequence[int]] = DELAYS

    def load(self, claimed: Sequence[Claimed]) -> list[Item[Sealed]]:
        with connection.cursor() as cursor:
            cursor.execute(_LOAD, {"ids": [row.id for row in claimed]})
            found = {pk: Sealed(bytes(sealed), late) for pk, sealed, late in cursor.fetchall()}
        return [row.to_item(found[row.id]) for row in claimed]

    def send_to(self, server: BaseEmailBackend, item: Item[Sealed]) -> Outcome:
        if item.content.is_late:
            return Outcome(Result.FAILED, "It expired before it was sent.")
        try:
            send(to_message(vault.open_sealed(item.content.email)), server)
        except Unsent:
            raise
        except vault.Unreadable as error:
            return Outcome(Result.FAILED, str(error))
        except Exception as error:
            log.exception("mail.failed", mail=item.ids[0])
            return Outcome(Result.FAILED, f"Internal error: {type(error).__name__}.")
        return Outcome(Result.SENT)

    def note(self, item: Item[Any], outcome: Outcome, result: Result | None) -> None:
        if outcome.error:
            metrics.note_mail_failure("queue")
            is_given_up = result != Result.RETRY
            report = log.error if is_given_up else log.warning
            report("mail.not_sent", mail=item.ids[0], error=outcome.error, is_given_up=is_given_up)


CHANNEL = AccountMail()
DISPATCHER = Dispatcher(CHANNEL)
