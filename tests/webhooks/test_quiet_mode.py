"""Quiet mode, by DELIVERIES or by the database: nothing is sent, nothing is lost, pages say so."""

import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail
from django.core.management import call_command
from django.db import OperationalError
from django.db.models import QuerySet
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from db import deliveries
from loops.models import Loop
from mailing import tasks as mailing
from mailing.models import QueuedMail
from outbox.dispatcher import Dispatcher
from outbox.items import Item
from reviews.models import Notification
from reviews.notifications import tasks as notifications
from reviews.notifications.push.channel import DISPATCHER, Push
from tests.api.bodies import question
from tests.conftest import Api
from tests.portal import signed_in, words
from tests.webhooks.log import made
from webhooks import tasks
from webhooks.models import Attempt, Delivery

pytestmark = pytest.mark.django_db(transaction=True)
BANNER = "Nothing is sent at the moment: webhooks, notifications and emails wait"


TurnOn = Callable[[], None]


@pytest.fixture(autouse=True, params=["environment", "database"])
def turn_on(
    request: pytest.FixtureRequest,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    dispatcher: Dispatcher[Any],
) -> TurnOn:
    """Deliveries are off; this turns them on, as an operator does."""
    monkeypatch.setattr(tasks, "DISPATCHER", dispatcher)
    if request.param == "environment":
        settings.DELIVERIES_ARE_ON = False
        return lambda: setattr(settings, "DELIVERIES_ARE_ON", True)
    deliveries.stop(reason="a copy")
    return lambda: print(manage("deliveries", "on"))


def manage(*command: str) -> str:
    output = io.StringIO()
    call_command(*command, stdout=output)
    return output.getvalue()


def run_everything() -> list[int]:
    return [
        tasks.deliver_due(),
        tasks.watch_hosts(),
        notifications.push_due(),
        notifications.mail_due(),
        mailing.send_queued(),
    ]


def test_everything_waits_and_goes_out_later(
    owner: User, loop: Loop, owner_key: str, api: type[Api], settings: Settings, turn_on: TurnOn
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

    turn_on()
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
    returned: list[Any] = []
    monkeypatch.setattr(DISPATCHER, "_give_back", returned.extend)
    content = Push("request", None, None)
    item = Item(ids=("1",), claim_id="claim", account="account", lane="", content=content)
    DISPATCHER.send_now([item])
    DISPATCHER.settle()
    assert returned == [item]


@pytest.mark.parametrize("page", ["/", "/accounts/login/", "/inbox/", "/dashboard/"])
def test_every_page_says_so(owner: User, turn_on: TurnOn, page: str) -> None:
    browser = signed_in(owner) if page in ("/inbox/", "/dashboard/") else Client()
    assert BANNER in words(browser.get(page))
    turn_on()
    assert BANNER not in words(browser.get(page))


def test_the_doctor_lists_what_waits(owner: User) -> None:
    made(owner, state="waiting")
    output = io.StringIO()
    with pytest.raises(SystemExit):  # no worker runs
        call_command("doctor", stdout=output)
    said = output.getvalue()
    assert re.search(r"(DELIVERIES is|are) off( \(a copy\))?; 1 webhooks, 0 pushes and 0 em", said)
    assert f"waiting for {Delivery.objects.get().host}: 1 webhooks" in said


def test_the_command_says_what_waits(
    owner: User, turn_on: TurnOn, request: pytest.FixtureRequest
) -> None:
    made(owner, state="waiting")
    said = manage("deliveries")
    assert "1 webhooks, 0 pushes and 0 emails wait" in said
    assert f"    waiting for {Delivery.objects.get().host}: 1 webhooks" in said
    in_database = "database" in request.node.name
    assert ("off since" in said, "(a copy)" in said) == (in_database, in_database)
    assert ("DELIVERIES=off in this environment" in said) != in_database
    turn_on()
    assert manage("deliveries").startswith("Deliveries are on; 1 webhooks")


def test_a_run_ends_when_deliveries_are_stopped(turn_on: TurnOn) -> None:
    """Also while there is more to send."""
    turn_on()
    assert DISPATCHER.may_claim()
    manage("deliveries", "off")
    assert not DISPATCHER.may_claim()


def test_pages_do_without_the_database(monkeypatch: pytest.MonkeyPatch, turn_on: TurnOn) -> None:
    """They show what was last known, and ask again later."""
    turn_on()
    deliveries.stop(reason="a copy")
    assert not deliveries.seem_on()
    deliveries.forget()
    asked: list[object] = []

    def fail() -> bool:
        asked.append(None)
        raise OperationalError

    monkeypatch.setattr(QuerySet, "exists", lambda rows: fail())
    assert [deliveries.seem_on() for _ in range(3)] == [False] * 3
    assert len(asked) == 1
