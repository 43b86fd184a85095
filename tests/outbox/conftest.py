"""The four channels, and messages of each that are due."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.core.mail import EmailMessage
from django.db import connection
from pytest_django import Settings

from accounts.models import User
from mailing.channel import AccountMail
from outbox.channel import Channel
from outbox.claiming import claim
from outbox.items import Bounds, Item
from reviews.notifications import services
from reviews.notifications.mail.channel import NotificationMail
from reviews.notifications.push.channel import DISPATCHER, PushChannel
from reviews.notifications.push.subscription import read_subscription
from tests.reviews.conftest import Make
from tests.reviews.conftest import make as make
from tests.reviews.notifications.conftest import fresh_endpoint, subscription_of
from tests.reviews.notifications.conftest import push_key as push_key
from tests.webhooks.conftest import Emit
from tests.webhooks.conftest import emit_to as emit_to
from webhooks.channel import Webhook

CHANNELS = ["webhook", "push", "notification mail", "mail"]


@dataclass(frozen=True)
class Case:
    """A channel, and how to make so many messages due that may be under way together."""

    channel: Channel[Any]
    make_messages: Callable[[int], None]

    def claim(self, limit: int = 50) -> list[Item[Any]]:
        return claim(self.channel, Bounds(limit, limit, limit, limit)).items

    def make_due(self) -> None:
        """Moves all leases and attempts into the past, as if the time had gone by."""
        self.execute(
            f"UPDATE {self.channel.table} SET next_attempt_at = now() - interval '1 second'"
            f" WHERE {self.channel.waiting}"
        )
        self.execute("UPDATE reviews_emailpreference SET mailed_at = now() - interval '1 hour'")

    def count(self, condition: str = "true") -> int:
        """How many rows still wait, and meet a condition."""
        sql = f"SELECT count(*) FROM {self.channel.table} WHERE {self.channel.waiting}"
        return int(self.execute(f"{sql} AND {condition}")[0][0])

    def execute(self, sql: str) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture
def case(
    request: pytest.FixtureRequest,
    emit_to: Emit,
    make: Make,
    owner: User,
    member: User,
    push_key: str,
    settings: Settings,
) -> Case:
    settings.EMAIL_BACKEND = "mailing.backend.QueueBackend"
    settings.MAIL_SERVER_BACKEND = "django.core.mail.backends.locmem.EmailBackend"

    def emit(count: int) -> None:
        for number in range(count):
            emit_to(f"http://host-{number}.example/hook")

    def push(count: int) -> None:
        services.choose_mails(user_id=owner.pk, mails="none")
        for _ in range(count):
            device = read_subscription(subscription_of(fresh_endpoint()))
            services.subscribe(user_id=member.pk, subscription=device, label="Phone")
        settings.DELIVERIES_ARE_ON = False  # else they leave at once
        make()
        DISPATCHER.settle()
        settings.DELIVERIES_ARE_ON = True

    def notify(count: int) -> None:
        assert count <= 2  # one email for each person
        for person in (owner, member)[count:]:
            services.choose_mails(user_id=person.pk, mails="none")
        make()

    def mail(count: int) -> None:
        for number in range(count):
            EmailMessage("Hello", "you", to=[f"p{number}@example.org"]).send()

    made: dict[str, tuple[Channel[Any], Callable[[int], None]]] = {
        "webhook": (Webhook(), emit),
        "push": (PushChannel(), push),
        "notification mail": (NotificationMail(), notify),
        "mail": (AccountMail(), mail),
    }
    return Case(*made[request.param])
