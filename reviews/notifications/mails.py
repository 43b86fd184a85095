"""E-mails about requests: written here, sent by the worker alone."""

import random
import smtplib
import threading
import time
from contextlib import suppress
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import structlog
from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.template.loader import render_to_string
from django.urls import reverse

from reviews.notifications import outbox, unsubscribing
from reviews.notifications.mail_outbox import Letter, Told, claim_letters
from reviews.notifications.outbox import MAIL_LEASE
from reviews.notifications.schedule import MAIL_DELAYS, next_delay
from reviews.notifications.wording import excerpt
from webhooks.delivery import persistently

PEOPLE = 20  # of one claim
SHOWN = 10  # requests that a mail describes; more are counted
BEGINNING = 300  # characters of a request
MOOT = "It is no longer needed."
log = structlog.get_logger(__name__)


class Mailer:
    """One run at a time in a process; `stop` ends it after the mail that is under way."""

    def __init__(self) -> None:
        self._running = threading.Lock()
        self._stopping = threading.Event()

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> int:
        """Sends what is due, and returns to how many people."""
        if not self._running.acquire(blocking=False):
            return 0
        count = 0
        try:
            while not self._stopping.is_set() and (letters := claim_letters(PEOPLE)):
                self._send(letters)
                count += len(letters)
        finally:
            self._running.release()
        return count

    def _send(self, letters: list[Letter]) -> None:
        begin_by = time.monotonic() + MAIL_LEASE - 3 * settings.EMAIL_TIMEOUT
        server = get_connection()
        try:
            for letter in letters:
                drop_moot(letter)
                if self._stopping.is_set() or time.monotonic() > begin_by:
                    give_back(letter)
                elif letter.told:
                    deliver(letter, server)
        finally:
            with suppress(OSError, smtplib.SMTPException):
                server.close()


def drop_moot(letter: Letter) -> None:
    for pk, account_id in letter.moot:
        claimed: dict[str, Any] = {"account_id": account_id, "claim_id": letter.claim_id}
        persistently(partial(outbox.record_dropped, pk, **claimed, error=MOOT))


def give_back(letter: Letter) -> None:
    for told in letter.told:
        claimed = {"account_id": told.account_id, "claim_id": letter.claim_id}
        persistently(partial(outbox.give_back, [told.notification_id], **claimed))


def deliver(letter: Letter, server: BaseEmailBackend) -> None:
    """Sends one mail and records what came of it."""
    try:
        server.open()  # kept open for the next one
        compose(letter, server).send()
    except smtplib.SMTPRecipientsRefused as error:
        refused = all(500 <= code < 600 for code, _ in error.recipients.values())
        record_failure(letter, f"Refused: {error}", for_good=refused)
    except (smtplib.SMTPException, OSError) as error:
        with suppress(OSError, smtplib.SMTPException):
            server.close()
        record_failure(letter, f"{type(error).__name__}: {error}")
    except Exception as error:
        log.exception("mail.failed", recipient=letter.recipient_id)
        record_failure(letter, f"Internal error: {type(error).__name__}.", for_good=True)
    else:
        for told in letter.told:
            persistently(
                partial(
                    outbox.record_sent,
                    [told.notification_id],
                    account_id=told.account_id,
                    request_id=told.request_id,
                    claim_id=letter.claim_id,
                )
            )


def record_failure(letter: Letter, error: str, *, for_good: bool = False) -> None:
    """Another attempt for each request that lives long enough."""
    log.warning("mail.not_sent", recipient=letter.recipient_id, error=error)
    for told in letter.told:
        delay = next_delay(
            MAIL_DELAYS,
            failed_attempts=told.failed_attempts + 1,
            chance=random.random(),  # noqa: S311 (jitter)
        )
        claimed: dict[str, Any] = {
            "account_id": told.account_id,
            "claim_id": letter.claim_id,
            "error": error,
        }
        pk = told.notification_id
        if delay is not None and not for_good:
            later = partial(outbox.record_later, pk, delay=delay, **claimed)
            if persistently(later):
                continue
        persistently(partial(outbox.record_dropped, pk, **claimed))


def compose(letter: Letter, server: BaseEmailBackend | None = None) -> EmailMultiAlternatives:
    """Text and HTML, and the headers that let mail programs offer to unsubscribe (RFC 8058)."""
    link = unsubscribing.link(letter.recipient_id)
    context = {
        "requests": [describe(told) for told in letter.told[:SHOWN]],
        "more": max(0, len(letter.told) - SHOWN),
        "zone": ZoneInfo(letter.time_zone),
        "inbox": settings.SITE_URL + reverse("inbox"),
        "settings": settings.SITE_URL + reverse("notifications"),
        "unsubscribe": link,
    }
    mail = EmailMultiAlternatives(
        subject=subject(letter.told),
        body=render_to_string("reviews/mail.txt", context),
        to=[letter.address],
        connection=server,
        headers={
            "List-Unsubscribe": f"<{link}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            "Auto-Submitted": "auto-generated",
        },
    )
    mail.attach_alternative(render_to_string("reviews/mail.html", context), "text/html")
    return mail


def subject(told: list[Told]) -> str:
    """The first request in a line, and how many there are."""
    first = told[0]
    mark = "Critical: " if first.priority == "critical" else ""
    others = f" (and {len(told) - 1} more)" if len(told) > 1 else ""
    return f"{mark}{excerpt(first.text, 70)}{others}"


def describe(told: Told) -> dict[str, Any]:
    """What a mail says of a request."""
    return {
        "loop": excerpt(told.loop_name, 100),
        "title": excerpt(told.text, 70),
        "beginning": excerpt(told.text, BEGINNING),
        "is_critical": told.priority == "critical",
        "deadline": told.timeout_at,
        "url": settings.SITE_URL + reverse("review", args=[told.request_id]),
    }


MAILER = Mailer()
