"""People with phones and mailboxes, and a push service that they are reached by."""

from collections.abc import Iterator
from typing import Any, Protocol

import pytest
from pytest_django import Settings

from accounts.models import User
from db.ids import new_id
from reviews.models import PushSubscription
from reviews.notifications import services
from reviews.notifications.push import vapid
from reviews.notifications.push.channel import DISPATCHER
from reviews.notifications.push.subscription import read_subscription
from tests.reviews.conftest import make as make
from tests.reviews.notifications.push_service import Phone, PushService, push_service

KEY = "QSBwcml2YXRlIGtleSBmb3IgdGVzdHMgYWxvbmUhISE"


class GivePhone(Protocol):
    def __call__(self, user: User) -> Phone: ...


@pytest.fixture
def push_key(settings: Settings) -> str:
    """Switches push on, and is the public key."""
    settings.VAPID_PRIVATE_KEY = KEY
    settings.VAPID_SUBJECT = "mailto:operator@example.com"
    return vapid.public_key()


@pytest.fixture
def service(push_key: str) -> Iterator[PushService]:
    """What is under way is over before the database goes."""
    with push_service() as one:
        yield one
        one.release()
        DISPATCHER.settle()
        DISPATCHER.close()


@pytest.fixture
def give_phone(service: PushService) -> GivePhone:
    """`give_phone(user)` is a phone of theirs that pushes reach."""

    def give(user: User) -> Phone:
        phone = service.new_phone()
        subscription = read_subscription(phone.subscription)
        services.subscribe(user_id=user.pk, subscription=subscription, label="Chrome on Android")
        return phone

    return give


def device_of(phone: Phone) -> PushSubscription:
    """Its row."""
    return PushSubscription.objects.get(endpoint=phone.endpoint)


def subscription_of(endpoint: str) -> dict[str, Any]:
    """A well-formed subscription of a browser that nobody reaches."""
    return Phone(endpoint).subscription


def fresh_endpoint() -> str:
    return f"https://push.example.com/{new_id()}"
