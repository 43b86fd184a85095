"""One attempt to send an email: write it, hand it to the mail server, read the response."""

import structlog
from django.core.mail.backends.base import BaseEmailBackend

from mailing.server import Unsent, send
from reviews.notifications.mail.message import compose
from reviews.notifications.mail.outbox import Batch
from reviews.notifications.outcome import Outcome, Result
from webhooks.failure_texts import INTERNAL_ERROR

DELAYS = (60, 300, 900, 3600)
log = structlog.get_logger(__name__)


def attempt(batch: Batch, server: BaseEmailBackend) -> Outcome:
    """Sends the email of a batch. Never raises: every failure is an outcome.

    Leaves the connection to the mail server open for the next one, unless it broke.
    """
    try:
        send(compose(batch, server), server)
    except Unsent as unsent:
        return Outcome(Result.REJECTED if unsent.is_final else Result.RETRY, str(unsent))
    except Exception as error:
        log.exception("mail.failed", recipient=batch.recipient_id)
        return Outcome(Result.REJECTED, INTERNAL_ERROR % {"name": type(error).__name__})
    return Outcome(Result.ACCEPTED)
