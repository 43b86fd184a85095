"""The connection to the mail server, past the queue; only workers use it."""

import smtplib
from contextlib import suppress

from django.conf import settings
from django.core.mail import get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.core.mail.message import EmailMessage

QUEUE = "mailing.backend.QueueBackend"


class Unsent(Exception):
    """The mail server did not take an email. `is_final`: it would never take this one.

    `is_connected` is False where it could not be reached, so that no other email would get through.
    """

    def __init__(self, message: str, *, is_final: bool = False, is_connected: bool = True) -> None:
        super().__init__(message)
        self.is_final = is_final
        self.is_connected = is_connected


def connect() -> BaseEmailBackend:
    """A connection to the mail server, not opened yet."""
    is_queued = settings.EMAIL_BACKEND == QUEUE
    backend: BaseEmailBackend = get_connection(settings.MAIL_SERVER_BACKEND if is_queued else None)
    return backend


def send(mail: EmailMessage, server: BaseEmailBackend) -> None:
    """Sends an email. Raises Unsent.

    Leaves the connection open for the next one, unless it broke.
    """
    try:
        server.open()
    except (smtplib.SMTPException, OSError, UnicodeError) as error:  # the last is of EMAIL_URL
        close(server)
        raise Unsent(f"{type(error).__name__}: {error}", is_connected=False) from None
    try:
        server.send_messages([mail])
    except smtplib.SMTPRecipientsRefused as error:
        is_final = all(500 <= code < 600 for code, _ in error.recipients.values())
        raise Unsent(f"Refused: {error}", is_final=is_final) from None
    except smtplib.SMTPDataError as error:
        raise Unsent(f"Refused: {error}", is_final=500 <= error.smtp_code < 600) from None
    except (smtplib.SMTPException, OSError) as error:
        close(server)
        raise Unsent(f"{type(error).__name__}: {error}", is_connected=False) from None


def close(server: BaseEmailBackend) -> None:
    """Closes the connection, whatever state it is in."""
    with suppress(OSError, smtplib.SMTPException):
        server.close()
