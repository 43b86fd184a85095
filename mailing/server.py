"""The connection to the mail server, past the queue; only workers use it."""

import smtplib
from contextlib import suppress

from django.conf import settings
from django.core.mail import get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.core.mail.message import EmailMessage

QUEUE = "mailing.backend.QueueBackend"
CLOSING = 421  # the server ends the connection, and smtplib closes its own end (RFC 5321, 3.8)


class Unsent(Exception):
    """The mail server did not take an email. `is_final`: it will never take this one.

    `is_connected` is False if the server could not be reached: no other email would get through.
    `is_about_content`: it took the recipient, and refused what the email says.
    """

    def __init__(
        self,
        message: str,
        *,
        is_final: bool = False,
        is_connected: bool = True,
        is_about_content: bool = False,
    ) -> None:
        super().__init__(message)
        self.is_final = is_final
        self.is_connected = is_connected
        self.is_about_content = is_about_content


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
        codes = [code for code, _ in error.recipients.values()]
        raise _refuse(server, error, codes, is_about_content=False) from None
    except smtplib.SMTPDataError as error:
        raise _refuse(server, error, [error.smtp_code], is_about_content=True) from None
    except (smtplib.SMTPException, OSError) as error:
        close(server)
        raise Unsent(f"{type(error).__name__}: {error}", is_connected=False) from None


def _refuse(
    server: BaseEmailBackend, error: Exception, codes: list[int], *, is_about_content: bool
) -> Unsent:
    """Builds what `send` raises for these codes of the server, which may end the connection."""
    if CLOSING in codes:
        close(server)
    is_final = all(500 <= code < 600 for code in codes)
    return Unsent(f"Refused: {error}", is_final=is_final, is_about_content=is_about_content)


def close(server: BaseEmailBackend) -> None:
    """Closes the connection, whatever state it is in."""
    with suppress(OSError, smtplib.SMTPException):
        server.close()
