"""Emails about hosts that fail and recover: once per outage, and never a storm of them."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.mail import EmailMessage
from django.db import connections
from django.db.models import F
from django.db.models.functions import Now
from pytest_django import Settings

from accounts.models import User
from mailing.models import QueuedMail
from mailing.server import QUEUE
from tests.webhooks.conftest import Emit, answered, claim, end, make_due
from webhooks import outage_emails
from webhooks.models import Delivery, FailingHost
from webhooks.tasks import watch_hosts

pytestmark = pytest.mark.django_db
HOOK = "http://receiver.example/hook"
TIMES = ("failing_since", "last_failed_at", "recovered_at", "told_at", "emailed_at")


def attempt(emit_to: Emit, status: int, times: int = 1, url: str = HOOK) -> None:
    """Attempts of fresh deliveries that end with this status."""
    for _ in range(times):
        deliveries = emit_to(url)
        (item,) = claim(1)
        assert item.content.delivery_id == deliveries[0].pk
        end(item, answered(status))
        Delivery.objects.filter(state="waiting").update(next_attempt_at=Now() + timedelta(hours=1))


def later(**passed: int) -> None:
    """Moves everything that is known of hosts into the past, as if the time had gone by."""
    FailingHost.objects.update(**{name: F(name) - timedelta(**passed) for name in TIMES})


def sweep() -> list[str]:
    """The subjects of what one sweep sends, and to whom."""
    before = len(mail.outbox)
    watch_hosts()
    return [f"{each.to[0]}: {each.subject}" for each in mail.outbox[before:]]


FAILS = "owner@example.com: Review Loop: Webhooks to receiver.example are failing"
WORKS = "owner@example.com: Review Loop: Webhooks to receiver.example are being delivered again"


def test_once_per_outage_and_once_when_it_is_over(emit_to: Emit) -> None:
    attempt(emit_to, 500, 4)
    later(minutes=2)
    assert sweep() == []  # one failure too few
    attempt(emit_to, 503)
    assert sweep() == [FAILS]
    text = str(mail.outbox[0].body)
    assert "Last result: 503 Service Unavailable" in text
    assert "Failed attempts: 5" in text
    assert "Waiting deliveries: 5" in text
    assert "/dashboard/deliveries/?state=failing" in text
    attempt(emit_to, 500, 20)
    later(hours=3)
    assert sweep() == []
    attempt(emit_to, 200)
    assert sweep() == []  # it may fail again at once
    later(minutes=3)
    assert sweep() == [WORKS]
    assert "Waiting deliveries: 25" in str(mail.outbox[1].body)
    later(minutes=3)
    assert sweep() == []


def test_a_restart_of_the_host_is_no_outage(emit_to: Emit) -> None:
    attempt(emit_to, 502, 30)
    assert sweep() == []
    attempt(emit_to, 200)
    later(minutes=5)
    assert sweep() == []
    assert not FailingHost.objects.exists()


def test_a_host_that_fails_and_recovers_in_turns(emit_to: Emit) -> None:
    attempt(emit_to, 500, 5)
    later(minutes=2)
    assert sweep() == [FAILS]
    for _ in range(5):  # the outage goes on
        attempt(emit_to, 200)
        later(minutes=1)
        attempt(emit_to, 500, 5)
        assert sweep() == []
    attempt(emit_to, 200)
    later(minutes=3)
    assert sweep() == [WORKS]
    attempt(emit_to, 500, 5)
    assert FailingHost.objects.get().failures == 5
    later(minutes=30)
    assert sweep() == []  # said less than an hour ago
    later(minutes=40)
    assert sweep() == [FAILS]


def test_a_hundred_hosts_are_one_email(emit_to: Emit) -> None:
    for number in range(12):
        attempt(emit_to, 500, 5, url=f"http://{number}.example/")
    later(minutes=2)
    assert sweep() == ["owner@example.com: Review Loop: Webhooks to 12 hosts are failing"]
    assert str(mail.outbox[0].body).count("Last result") == 10
    assert "and 2 more." in str(mail.outbox[0].body)
    attempt(emit_to, 500, 5)
    FailingHost.objects.filter(host="receiver.example").update(
        failing_since=Now() - timedelta(minutes=2)
    )
    assert sweep() == []  # the account was told of others a moment ago
    later(minutes=11)
    assert sweep() == [FAILS]


def test_the_operator_chooses_the_number(emit_to: Emit, settings: Settings) -> None:
    settings.WEBHOOK_FAILURES_BEFORE_EMAIL = 0
    attempt(emit_to, 500, 9)
    later(minutes=2)
    assert sweep() == []
    settings.WEBHOOK_FAILURES_BEFORE_EMAIL = 10
    assert sweep() == []
    settings.WEBHOOK_FAILURES_BEFORE_EMAIL = 9
    assert sweep() == [FAILS]


def test_only_confirmed_addresses_and_nothing_without_a_mail_server(
    emit_to: Emit, owner: User, settings: Settings
) -> None:
    attempt(emit_to, 500, 5)
    later(minutes=2)
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    assert sweep() == []
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    EmailAddress.objects.filter(user=owner).update(verified=False)
    assert sweep() == []
    assert FailingHost.objects.get().told_at is not None  # and is not looked at every time


def test_what_a_host_is_called_cannot_forge_an_email(owner: User) -> None:
    FailingHost.objects.create(
        account=owner,
        host="evil.example\r\nBcc: all@example.com",
        failing_since=Now() - timedelta(minutes=5),
        failures=7,
        last_failed_at=Now(),
        last_error="Hello\r\n\r\nPay here: \u202e",
    )
    (subject,) = sweep()
    assert "\n" not in subject
    assert "\n\nPay here" not in str(mail.outbox[0].body)


class TestCrashes:
    def test_between_the_queue_and_the_note(
        self, emit_to: Emit, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What is not committed was not said: the next sweep says it, once."""
        settings.EMAIL_BACKEND = QUEUE
        attempt(emit_to, 500, 5)
        later(minutes=2)
        send = EmailMessage.send

        def crash(message: EmailMessage, **options: Any) -> int:
            send(message, **options)
            raise OSError("killed here")

        monkeypatch.setattr(EmailMessage, "send", crash)
        watch_hosts()
        assert (QueuedMail.objects.count(), FailingHost.objects.get().told_at) == (0, None)
        monkeypatch.setattr(EmailMessage, "send", send)
        watch_hosts()
        watch_hosts()
        assert QueuedMail.objects.count() == 1

    @pytest.mark.django_db(transaction=True)
    def test_eight_workers_at_once(self, emit_to: Emit, settings: Settings) -> None:
        settings.EMAIL_BACKEND = QUEUE
        attempt(emit_to, 500, 5)
        later(minutes=2)
        together = threading.Barrier(8)

        def work() -> None:
            together.wait(20)
            outage_emails.email_outages()
            connections.close_all()

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert QueuedMail.objects.count() == 1


def test_nothing_is_forgotten_while_something_waits(emit_to: Emit) -> None:
    attempt(emit_to, 500, 5)
    later(minutes=2)
    assert sweep() == [FAILS]
    later(hours=30)
    sweep()
    assert FailingHost.objects.exists()
    attempt(emit_to, 200)
    later(minutes=3)
    assert sweep() == [WORKS]
    make_due()
    later(hours=2)
    sweep()
    assert not FailingHost.objects.exists()
