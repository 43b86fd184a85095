"""One attempt to send an email: write it, hand it to the mail server, read the response."""

import smtplib
from contextlib import suppress

import structlog
from django.core.mail.backends.base import BaseEmailBackend

from reviews.notifications.mail.message import compose
from reviews.notifications.mail.outbox import Batch
from reviews.notifications.outcome import Outcome, Result

DELAYS = (60, 300, 900, 3600)
log = structlog.get_logger(__name__)


def attempt(batch: Batch, server: BaseEmailBackend) -> Outcome:
    """Sends the email of a batch. Never raises: every failure is an outcome.

    Leaves the connection to the mail server open for the next one, unless it broke.
    """
    try:
        server.open()
        compose(batch, server).send()
    except smtplib.SMTPRecipientsRefused as error:
        is_final = all(500 <= code < 600 for code, _ in error.recipients.values())
        return Outcome(Result.REJECTED if is_final else Result.RETRY, f"Refused: {error}")
    except (smtplib.SMTPException, OSError) as error:
        close(server)
        return Outcome(Result.RETRY, f"{type(error).__name__}: {error}")
    except Exception as error:
        log.exception("mail.failed", recipient=batch.recipient_id)
        return Outcome(Result.REJECTED, f"Internal error: {type(error).__name__}.")
    return Outcome(Result.ACCEPTED)


def close(server: BaseEmailBackend) -> None:
    """Closes the connection, whatever state it is in."""
    with suppress(OSError, smtplib.SMTPException):
        server.close()
