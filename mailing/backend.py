"""The email backend of Django that queues: whoever sends an email waits for no mail server."""

from collections.abc import Sequence

from django.core.mail.backends.base import BaseEmailBackend
from django.core.mail.message import EmailMessage

from accounts import vault
from mailing import queue
from mailing.stored_message import to_text

LIFE = 24 * 3600  # seconds after which an email expires, unless it has a `life` of its own


class QueueBackend(BaseEmailBackend):
    """Inserts each email into the queue, in the caller's transaction."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Returns how many were queued. Raises QueueFull, and ValueError for what cannot be sent.

        An email may say in its attribute `life` after how many seconds it expires.
        """
        count = 0
        for mail in email_messages:
            if not mail.recipients():
                continue
            try:
                sealed = vault.seal(to_text(mail))
                queue.enqueue(sealed, life=float(getattr(mail, "life", LIFE)))
            except (OSError, ValueError):
                if not self.fail_silently:
                    raise
            else:
                count += 1
        return count
