"""A mail server that ends a connection with 421, such as after so many emails (RFC 5321, 3.8)."""

import pytest
from django.core.mail import send_mail

from mailing.channel import AccountMail
from mailing.models import QueuedMail
from outbox.dispatcher import Dispatcher
from tests.mailing.mail_server import MailServer

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("refuses_data", [False, True])
def test_each_email_is_offered_over_a_connection_that_is_open(
    server: MailServer, refuses_data: bool
) -> None:
    for number in range(4):
        send_mail("Code", "123", "us@example.com", [f"p{number}@example.com"])
    server.refusal, server.refuses_data = "421 4.7.0 too many", refuses_data
    Dispatcher(AccountMail()).run_due()
    assert set(QueuedMail.objects.values_list("failed_attempts", flat=True)) == {1}
    assert server.connections == 4
