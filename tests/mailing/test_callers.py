"""Who sends emails in a web request: none of them waits for the mail server."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from loops.models import Loop
from mailing.channel import AccountMail
from mailing.models import QueuedMail
from outbox.dispatcher import Dispatcher
from reviews.models import Notification
from reviews.notifications.mail.channel import NotificationMail
from tests.mailing.mail_server import MailServer
from tests.portal import signed_in, words
from tests.reviews.conftest import Make
from tests.reviews.conftest import make as make

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[2]
NEW = {"name": "Nora", "email": "nora@example.org", "password1": "correct horse battery"}


def delivered(server: MailServer) -> tuple[str, str]:
    """The recipient and the text of the one email, once the worker has sent it."""
    assert server.connections == 0
    assert Dispatcher(AccountMail()).run_due() == 1
    (((recipient,), mail),) = server.got
    body = mail.get_body(("plain",))
    assert body is not None
    return recipient, str(body.get_content())


def test_a_sign_in_code(server: MailServer, member: User) -> None:
    browser = Client()
    answer = browser.post("/accounts/login/code/", {"email": member.email}, follow=True)
    assert answer.status_code == 200
    row = QueuedMail.objects.get()
    assert (row.expires_at - row.created_at).total_seconds() == 600  # as long as the code lives
    recipient, text = delivered(server)
    assert recipient == member.email
    (code,) = re.findall(r"(?m)^\d{6}\s*$", text)
    answer = browser.post("/accounts/login/code/confirm/", {"code": code.strip()}, follow=True)
    assert answer.redirect_chain[-1] == ("/inbox/", 302)


def test_a_sign_up(server: MailServer) -> None:
    assert Client().post("/accounts/signup/", NEW).status_code == 302
    recipient, text = delivered(server)
    assert recipient == "nora@example.org"
    assert re.search(r"(?m)^\d{6}\s*$", text)


def test_a_forgotten_password(server: MailServer, member: User) -> None:
    Client().post("/accounts/password/reset/", {"email": member.email})
    recipient, text = delivered(server)
    assert recipient == member.email
    assert "/accounts/password/reset/key/" in text


def test_an_invitation(server: MailServer, owner: User, loop: Loop) -> None:
    path = f"/dashboard/loops/{loop.pk}/invite/"
    page = signed_in(owner).post(path, {"email": "ada@example.org"}, follow=True)
    assert "Invitation sent to ada@example.org." in words(page)
    recipient, text = delivered(server)
    assert recipient == "ada@example.org"
    assert loop.join_url in text


def test_notifications_of_requests_have_their_own_queue_and_are_not_queued_twice(
    server: MailServer, make: Make
) -> None:
    make()
    assert server.connections == 0
    assert Dispatcher(NotificationMail()).run_due() == 2
    assert not QueuedMail.objects.exists()
    assert len(server.got) == 2
    assert not Notification.objects.exclude(state="sent").exists()


@pytest.mark.parametrize(
    ("url", "backend"),
    [
        ("smtp://mail.example.org:25", "mailing.backend.QueueBackend"),
        ("smtp+tls://me:pw@mail.example.org:587", "mailing.backend.QueueBackend"),
        ("consolemail://", "django.core.mail.backends.console.EmailBackend"),
        ("filemail:///tmp/mails", "django.core.mail.backends.filebased.EmailBackend"),
        (None, "django.core.mail.backends.console.EmailBackend"),
    ],
)
def test_a_mail_server_has_the_queue_before_it(url: str | None, backend: str) -> None:
    environment: dict[str, Any] = {**os.environ, "EMAIL_URL": url}
    code = "from config import settings as s; print(s.EMAIL_BACKEND, s.MAIL_SERVER_BACKEND)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={name: value for name, value in environment.items() if value is not None},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    chosen, beneath = done.stdout.split()
    assert chosen == backend
    assert beneath.startswith("django.core.mail.backends.")
