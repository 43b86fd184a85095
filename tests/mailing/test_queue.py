"""Emails go through the queue: what callers get, what is stored, and what the server gets."""

import importlib
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.db import connection, transaction
from django.db.models.functions import Now
from pytest_django import DjangoAssertNumQueries, Settings

from accounts import vault
from config import celery
from db import worker_status
from mailing import queue, tasks
from mailing.channel import DELAYS, AccountMail
from mailing.models import QueuedMail
from mailing.stored_message import to_message, to_text
from outbox import recording
from outbox.claiming import claim
from outbox.dispatcher import Dispatcher
from outbox.items import Bounds, Item, Outcome, Result
from tests.mailing.mail_server import MailServer
from tests.outage import away_at_first

pytestmark = pytest.mark.django_db
CODE = "Your code is 493817."


def send(**changes: Any) -> int:
    values = {"subject": "Größe", "body": CODE, "to": ["Ada <ada@example.com>"], **changes}
    return EmailMessage(**values).send()


def run() -> int:
    """A run of a fresh worker."""
    return Dispatcher(AccountMail()).run_due()


CHANNEL = AccountMail()


def claimed() -> list[Item[Any]]:
    return list(claim(CHANNEL, Bounds(5, 5, 5, 5)).items)


def make_due() -> None:
    QueuedMail.objects.update(next_attempt_at=Now() - timedelta(seconds=1))


def test_the_sender_waits_for_no_server(
    server: MailServer, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    server.is_silent = True
    with django_assert_num_queries(1):
        assert send() == 1
    assert server.connections == 0
    assert QueuedMail.objects.count() == 1


def test_the_worker_hands_it_over_and_forgets_it(server: MailServer) -> None:
    mail = EmailMultiAlternatives(
        subject="Größe ✓",
        body="Text.\n.\nafter a dot",
        from_email="Desk <desk@example.org>",
        to=["Ada <ada@example.com>"],
        cc=["cc@example.com"],
        bcc=["bcc@example.com"],
        reply_to=["reply@example.com"],
        headers={"List-Unsubscribe": "<https://example.org/u>"},
    )
    mail.attach_alternative("<p>HTML</p>", "text/html")
    mail.attach("notes.txt", "some notes", "text/plain")
    mail.attach("dots.bin", b"\x00\xff", "application/octet-stream")
    assert mail.send() == 1
    assert run() == 1
    ((recipients, got),) = server.got
    assert recipients == ["ada@example.com", "cc@example.com", "bcc@example.com"]
    assert got["From"] == "Desk <desk@example.org>"
    assert got["To"] == "Ada <ada@example.com>"
    assert (got["Subject"], got["Reply-To"], got["Bcc"]) == ("Größe ✓", "reply@example.com", None)
    assert got["List-Unsubscribe"] == "<https://example.org/u>"
    text, html = got.get_body(("plain",)), got.get_body(("html",))
    assert text is not None
    assert html is not None
    assert text.get_content().splitlines() == ["Text.", ".", "after a dot"]
    assert html.get_content().strip() == "<p>HTML</p>"
    notes, dots = got.iter_attachments()
    assert (notes.get_filename(), notes.get_content().strip()) == ("notes.txt", "some notes")
    assert dots.get_content() == b"\x00\xff"
    assert not QueuedMail.objects.exists()
    assert run() == 0


def test_what_is_stored_tells_nothing(server: MailServer) -> None:
    send()
    with connection.cursor() as cursor:
        cursor.execute("SELECT q::text, convert_from(sealed, 'UTF8') FROM mailing_queuedmail q")
        ((row, sealed),) = cursor.fetchall()
    for secret in ("493817", "ada@example.com", "Größe"):
        assert secret not in row
        assert secret not in sealed
    assert "493817" in vault.open_sealed(QueuedMail.objects.get().sealed)


def test_it_is_sent_only_if_the_caller_commits(server: MailServer) -> None:
    with transaction.atomic():
        send()
        transaction.set_rollback(True)
    assert not QueuedMail.objects.exists()


@pytest.mark.parametrize("change", [{"subject": "a\nBcc: b@example.com"}, {"to": ["a b@c@d"]}])
def test_what_no_server_would_take_is_said_at_once(
    server: MailServer, change: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"newlines|address"):
        send(**change)
    assert not QueuedMail.objects.exists()
    assert EmailMessage(**{"to": ["a@example.com"], **change}).send(fail_silently=True) == 0


def test_without_a_recipient_nothing_is_queued(server: MailServer) -> None:
    assert send(to=[]) == 0


def test_the_queue_is_bounded(server: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "MAX_WAITING", 2)
    send()
    send()
    with pytest.raises(OSError, match="Too many emails are waiting"):
        send()
    assert QueuedMail.objects.count() == 2
    assert run() == 2
    assert send() == 1


def test_every_attempt_is_the_same_email(server: MailServer) -> None:
    send()
    server.refusal = "451 greylisted"
    assert run() == 1
    server.refusal = ""
    make_due()
    stored = to_message(vault.open_sealed(QueuedMail.objects.get().sealed)).message()
    assert run() == 1
    ((_, got),) = server.got
    assert (got["Message-ID"], got["Date"]) == (stored["Message-ID"], stored["Date"])


@pytest.mark.parametrize(
    ("refusal", "refuses_data", "stays"),
    [
        ("451 greylisted", False, True),
        ("550 unknown", False, False),
        ("451 busy", True, True),
        ("554 spam", True, False),
    ],
)
def test_what_a_server_says(
    server: MailServer, refusal: str, refuses_data: bool, stays: bool
) -> None:
    server.refusal, server.refuses_data = refusal, refuses_data
    send()
    assert run() == 1
    assert QueuedMail.objects.exists() == stays
    if stays:
        row = QueuedMail.objects.annotate(now=Now()).get()
        assert (row.failed_attempts, row.claim_id) == (1, None)
        assert 0 < (row.next_attempt_at - row.now).total_seconds() < 7
    assert server.got == []


def test_a_server_that_cannot_be_reached_is_tried_with_one_email_at_a_time(
    server: MailServer, settings: Settings
) -> None:
    """So twenty emails do not wait twenty times for nothing, and none loses an attempt."""
    settings.EMAIL_TIMEOUT = 0.3
    server.is_silent = True
    for _ in range(5):
        send()
    assert run() == 5
    assert server.connections == 1
    attempts = QueuedMail.objects.order_by("id").values_list("failed_attempts", flat=True)
    assert list(attempts) == [1, 0, 0, 0, 0]
    server.is_silent = False
    make_due()
    assert run() == 5
    assert len(server.got) == 5


@pytest.mark.parametrize("host", ["mail..example.com", "x" * 70 + ".example.com"])
def test_settings_that_cannot_be_used_lose_no_email(
    server: MailServer, settings: Settings, host: str
) -> None:
    """The library raises what is no error of the network."""
    right, settings.EMAIL_HOST = settings.EMAIL_HOST, host
    send()
    assert run() == 1
    assert QueuedMail.objects.get().failed_attempts == 1
    settings.EMAIL_HOST = right
    make_due()
    assert run() == 1
    assert len(server.got) == 1


def test_it_is_given_up_in_the_end(server: MailServer) -> None:
    server.refusal = "451 busy"
    send()
    runs = 0
    while QueuedMail.objects.exists():
        make_due()
        runs += run()
    assert runs == len(DELAYS) + 1


def test_what_would_come_too_late_is_not_sent(server: MailServer) -> None:
    codes = EmailMessage("x", CODE, to=["ada@example.com"])
    codes.life = 600  # type: ignore[attr-defined]
    codes.send()
    row = QueuedMail.objects.get()
    assert (row.expires_at - row.created_at).total_seconds() == 600
    QueuedMail.objects.update(expires_at=Now())
    assert run() == 1
    assert server.got == []
    assert not QueuedMail.objects.exists()


def test_no_attempt_is_planned_for_after_its_life(server: MailServer) -> None:
    server.refusal = "451 busy"
    send()
    QueuedMail.objects.update(expires_at=Now() + timedelta(seconds=2))
    assert run() == 1
    assert not QueuedMail.objects.exists()


def test_one_that_cannot_be_read_does_not_hold_up_the_others(
    server: MailServer, settings: Settings
) -> None:
    send()
    QueuedMail.objects.update(sealed=b"sealed with a key that is gone")
    send()
    assert run() == 2
    assert len(server.got) == 1
    assert not QueuedMail.objects.exists()


def test_a_lost_worker_is_made_up_for_and_writes_nothing_more(server: MailServer) -> None:
    send()
    (lost,) = claimed()
    assert claimed() == []
    make_due()
    (held,) = claimed()
    assert held.ids == lost.ids
    assert recording.record(CHANNEL, lost, Outcome(Result.SENT)) is None
    recording.give_back(CHANNEL, [lost])
    assert QueuedMail.objects.get().claim_id == held.claim_id
    recording.give_back(CHANNEL, [held])
    assert run() == 1
    assert len(server.got) == 1


def test_a_stop_gives_back_what_was_not_attempted(
    server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        send()
    worker = Dispatcher(AccountMail())
    monkeypatch.setattr(worker.channel, "note", lambda *_: worker.stop())
    assert worker.run_due() == 3
    assert QueuedMail.objects.filter(claim_id=None).count() == 2
    assert len(server.got) == 1


def test_the_plan_fits_into_a_day() -> None:
    assert sum(DELAYS) * 1.2 < 86_400


def test_the_sweep_says_that_it_runs(server: MailServer) -> None:
    send()
    assert tasks.send_queued() == 1
    assert "send_queued" in worker_status.read_lags()


def test_a_stopping_worker_stops_every_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    for room in ("webhooks", "reviews.notifications.push", "reviews.notifications.mail"):
        importlib.import_module(f"{room}.channel")
    stopped: list[str] = []

    def stop(dispatcher: Dispatcher[Any]) -> None:
        stopped.append(dispatcher.channel.name)

    monkeypatch.setattr(Dispatcher, "stop", stop)
    celery.stop_deliveries()
    assert {"webhook", "webhook test", "push", "notification mail", "mail"} <= set(stopped)


def test_only_a_server_has_a_queue_before_it(settings: Settings) -> None:
    """Where emails go to the log or to memory, nothing waits for anybody."""
    assert settings.EMAIL_BACKEND.endswith("locmem.EmailBackend")
    assert send() == 1
    assert len(mail.outbox) == 1
    assert not QueuedMail.objects.exists()


def test_an_attachment_of_another_kind_is_refused() -> None:
    odd = EmailMessage("x", "y", to=["a@example.com"])
    odd.attach(EmailMessage("inner").message())
    with pytest.raises(ValueError, match="text or bytes"):
        to_text(odd)


@pytest.mark.django_db(transaction=True)
def test_what_was_sent_is_recorded_once_the_database_is_back(
    server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would be sent again when its lease runs out."""
    send()
    calls = away_at_first(monkeypatch, "outbox.recording.record", times=4)
    assert run() == 1
    assert (len(calls), len(server.got)) == (5, 1)
    assert not QueuedMail.objects.exists()
