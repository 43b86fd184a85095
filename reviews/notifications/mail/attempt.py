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
    # One account's text takes no other account's request with it.
    refused = Result.SPLIT if len(batch.items) > 1 else Result.REJECTED
    try:
        send(compose(batch, server), server)
    except Unsent as unsent:
        if not unsent.is_final:
            return Outcome(Result.RETRY, str(unsent))
        return Outcome(refused if unsent.is_about_content else Result.REJECTED, str(unsent))
    except Exception as error:
        log.exception("mail.failed", recipient=batch.recipient_id)
        return Outcome(refused, INTERNAL_ERROR % {"name": type(error).__name__})
    return Outcome(Result.ACCEPTED)
