"""A mail server on loopback, with the queue before it as in production."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from mailing.server import QUEUE
from tests.mailing.mail_server import MailServer, mail_server


@pytest.fixture
def server(settings: Settings) -> Iterator[MailServer]:
    with mail_server() as one:
        settings.EMAIL_BACKEND = QUEUE
        settings.MAIL_SERVER_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", one.port
        settings.EMAIL_TIMEOUT = 5
        yield one
