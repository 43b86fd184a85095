"""DELIVERIES=off: nothing is sent and nothing is lost, and every page says so."""

import io
from typing import Any

import pytest
from django.core import mail
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from loops.models import Loop
from mailing import tasks as mailing
from mailing.models import QueuedMail
from reviews.models import Notification
from reviews.notifications import tasks as notifications
from reviews.notifications.push.dispatch import DISPATCHER
from reviews.notifications.push.outbox import Item
from tests.api.bodies import question
from tests.conftest import Api
from tests.portal import signed_in, words
from tests.webhooks.log import made
from webhooks import tasks
from webhooks.dispatch import Dispatcher
from webhooks.models import Attempt, Delivery

pytestmark = pytest.mark.django_db(transaction=True)
BANNER = "Nothing is sent at the moment: webhooks, notifications and emails wait"


@pytest.fixture(autouse=True)
def _off(settings: Settings, monkeypatch: pytest.MonkeyPatch, dispatcher: Dispatcher) -> None:
    settings.DELIVERIES_ARE_ON = False
    monkeypatch.setattr(tasks, "DISPATCHER", dispatcher)


def run_everything() -> list[int]:
    return [
        tasks.deliver_due(),
        tasks.watch_hosts(),
        notifications.push_due(),
        notifications.mail_due(),
        mailing.send_queued(),
    ]


def test_everything_waits_and_goes_out_later(
    owner: User, loop: Loop, owner_key: str, api: type[Api], settings: Settings
) -> None:
    settings.EMAIL_BACKEND = "mailing.backend.QueueBackend"
    settings.MAIL_SERVER_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    delivery = made(owner, state="waiting")
    mail.EmailMessage("Hello", "you", to=["nora@example.org"]).send()
    api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", question())
    assert run_everything() == [0] * 5
    assert not Attempt.objects.exists()
    assert not mail.outbox
    delivery.refresh_from_db()
    assert (delivery.state, delivery.failed_attempts, delivery.claim_id) == ("waiting", 0, None)
    assert QueuedMail.objects.filter(claim_id=None).count() == 1
    assert {row.state for row in Notification.objects.all()} == {"waiting"}

    settings.DELIVERIES_ARE_ON = True
    sent = run_everything()
    assert sent[0] == sent[4] == 1
    assert Attempt.objects.count() == 1
    assert "Hello" in [message.subject for message in mail.outbox]


def test_an_old_delivery_behind_a_pause_does_not_die(owner: User) -> None:
    made(owner, state="waiting")
    Delivery.objects.update(next_attempt_at="2020-01-01T00:00:00Z")
    tasks.deliver_due()
    assert Delivery.objects.get().state == "waiting"


def test_pushes_are_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[object] = []
    written: list[Any] = []
    monkeypatch.setattr(DISPATCHER.pool, "offer", offered.append)
    monkeypatch.setattr(DISPATCHER.recorder, "put", lambda *entry: written.append(entry))
    item = Item("1", "claim", "account", "request", 0, None, None)
    assert DISPATCHER.send_at_once([item]) == []
    assert not offered
    assert written == [(item, None)]


@pytest.mark.parametrize("page", ["/", "/accounts/login/", "/inbox/", "/dashboard/"])
def test_every_page_says_so(owner: User, settings: Settings, page: str) -> None:
    browser = signed_in(owner) if page in ("/inbox/", "/dashboard/") else Client()
    assert BANNER in words(browser.get(page))
    settings.DELIVERIES_ARE_ON = True
    assert BANNER not in words(browser.get(page))


def test_the_doctor_lists_what_waits(owner: User) -> None:
    made(owner, state="waiting")
    output = io.StringIO()
    with pytest.raises(SystemExit):  # no worker runs
        call_command("doctor", stdout=output)
    said = output.getvalue()
    assert "DELIVERIES is off; 1 webhooks, 0 pushes and 0 emails wait." in said
    assert f"waiting for {Delivery.objects.get().host}: 1 webhooks" in said
