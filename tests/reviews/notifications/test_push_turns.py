"""Pushes of one account, and everybody else's behind them."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from accounts.models import User
from loops.services import create_loop
from outbox.claiming import claim
from outbox.items import Bounds
from reviews import services as review_services
from reviews.models import Notification
from reviews.notifications import services
from reviews.notifications.push.channel import CHANNEL
from reviews.notifications.push.subscription import read_subscription
from tests.conftest import account
from tests.reviews.conftest import FIELDS, Make, acting
from tests.reviews.notifications.conftest import subscription_of

pytestmark = pytest.mark.django_db


def add_device(user: User, endpoint: str) -> None:
    subscription = read_subscription(subscription_of(endpoint))
    services.subscribe(user_id=user.pk, subscription=subscription, label="Phone")


def make_due(user: User, *, ago: int) -> None:
    """What the web process had no room for, or a killed one left: due for the worker."""
    rows = Notification.objects.filter(recipient=user, channel="push", state="waiting")
    rows.update(claim_id=None, next_attempt_at=Now() - timedelta(seconds=ago))


def flood(hosts: list[str], requests: int) -> None:
    """Due pushes of another account, to all of these hosts for each request."""
    stranger = account("stranger")
    loop = create_loop(owner_id=stranger.pk, name="Flood", icon="x")
    for number, host in enumerate(hosts):
        add_device(stranger, f"https://{host}/{number}")
    for _ in range(requests):
        review_services.create_request(loop_id=loop.pk, account=acting(stranger), fields=FIELDS)
    make_due(stranger, ago=60)


@pytest.fixture
def one_of_a_member(make: Make, member: User, push_key: str) -> None:
    add_device(member, "https://fcm.example/1")
    make(priority="critical")
    make_due(member, ago=5)


@pytest.mark.usefixtures("one_of_a_member")
def test_a_backlog_of_a_busy_host_holds_up_nobody_else() -> None:
    flood(["slow.example"] * 20, requests=3)
    items = claim(CHANNEL, Bounds(4, 4, 4, 4, full_lanes=["slow.example"])).items
    assert [item.lane for item in items] == ["fcm.example"]


@pytest.mark.usefixtures("one_of_a_member")
def test_accounts_take_turns(push_key: str) -> None:
    flood([f"h{number}.example" for number in range(20)], requests=1)
    hosts = [item.lane for item in claim(CHANNEL, Bounds(8, 8, 4, 8)).items]
    assert len(hosts) == 8
    assert "fcm.example" in hosts
