"""One attempt to send a queued email."""

import random
from dataclasses import dataclass

import structlog
from django.core.mail.backends.base import BaseEmailBackend

from accounts import vault
from mailing.outbox import Item
from mailing.server import Unsent, send
from mailing.stored_message import to_message
from webhooks.schedule import next_delay

DELAYS = (5, 15, 60, 300, 900, 1800, 3600, 7200, 14_400, 28_800)  # within a day
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended. `is_final`: the email would never be taken.

    `is_connected` is False where the mail server could not be reached.
    """

    error: str = ""
    is_final: bool = False
    is_connected: bool = True


def attempt(item: Item, server: BaseEmailBackend) -> Outcome:
    """Sends a claimed email. Never raises: every failure is an outcome."""
    if item.is_late:
        return Outcome("It came too late to be of use.", is_final=True)
    try:
        send(to_message(vault.open_sealed(item.sealed)), server)
    except Unsent as unsent:
        return Outcome(str(unsent), unsent.is_final, unsent.is_connected)
    except vault.Unreadable as error:
        return Outcome(str(error), is_final=True)
    except Exception as error:
        log.exception("mail.failed", mail=item.mail_id)
        return Outcome(f"Internal error: {type(error).__name__}.", is_final=True)
    return Outcome()


def judge(outcome: Outcome, *, failed_before: int) -> float | None:
    """Seconds until the next attempt; None where there is none."""
    if outcome.is_final or not outcome.error:
        return None
    return next_delay(
        DELAYS,
        failed_attempts=failed_before + 1,
        chance=random.random(),  # noqa: S311 (jitter)
    )
