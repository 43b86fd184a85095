"""Creating a request with notifications: the response waits for none, later reads count them."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.models import User
from loops.models import Loop
from reviews.models import Notification, PushSubscription, Request
from reviews.notifications import services
from tests.api.bodies import QUESTION
from tests.conftest import Api
from tests.reviews.notifications.conftest import GivePhone
from tests.reviews.notifications.push_service import PushService
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def create(key: str, loop: Loop, **changes: Any) -> dict[str, Any]:
    response = Api(key).post(f"/v1/api/loops/{loop.pk}/requests", {**QUESTION, **changes})
    assert response.status_code == 201, response.content
    data: dict[str, Any] = response.json()["data"]
    return data


def read(key: str, request_id: str) -> int:
    response = Api(key).get(f"/v1/api/requests/{request_id}")
    return int(response.json()["data"]["request"]["notifications_sent"])


def test_later_reads_count_what_was_accepted(
    loop: Loop, owner: User, member: User, owner_key: str, give_phone: GivePhone
) -> None:
    for person in (owner, member, member):
        give_phone(person)
    made = create(owner_key, loop)
    assert (made["broadcasted_to"], made["notifications_sent"]) == (2, 0)
    wait_until(lambda: read(owner_key, made["request_id"]) == 3)


def test_of_many_kinds_of_service(
    loop: Loop, member: User, owner_key: str, give_phone: GivePhone, service: PushService
) -> None:
    phones = [give_phone(member) for _ in range(5)]
    for phone, status in zip(phones, (201, 410, 429, 500, 413), strict=True):
        service.answer(phone, status)
    made = create(owner_key, loop)
    waiting = Notification.objects.filter(channel="push", claim_id__isnull=False)
    wait_until(lambda: not waiting.exists())
    pushes = Notification.objects.filter(channel="push").order_by("id")
    assert sorted(pushes.values_list("state", flat=True)) == [
        *("dropped", "dropped", "sent", "waiting", "waiting")
    ]
    assert read(owner_key, made["request_id"]) == 1


@pytest.mark.parametrize("devices", [1, services.MAX_SUBSCRIPTIONS])
def test_no_push_service_is_waited_for(
    loop: Loop,
    member: User,
    owner_key: str,
    give_phone: GivePhone,
    service: PushService,
    devices: int,
) -> None:
    """Each device on a host of its own. The response is there while all services are still
    silent; what they accept later is counted later."""
    for number in range(devices):
        phone = give_phone(member)
        PushSubscription.objects.filter(endpoint=phone.endpoint).update(
            host=f"{number}.example.com"
        )
    service.hold()
    made = create(owner_key, loop)
    assert made["notifications_sent"] == 0
    wait_until(lambda: len(service.got) >= min(devices, 8))  # at once all the same
    assert read(owner_key, made["request_id"]) == 0
    service.release()
    wait_until(lambda: read(owner_key, made["request_id"]) == devices)


def test_nobody_waits_for_nothing(loop: Loop, owner_key: str, push_key: str) -> None:
    create(owner_key, loop)
    assert Notification.objects.filter(channel="push").count() == 0
    assert Notification.objects.filter(channel="mail").count() == 2


def test_devices_cost_no_statement(
    loop: Loop, member: User, owner_key: str, give_phone: GivePhone, settings: Settings
) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            create(owner_key, loop)
        return len(queries)

    alone = count()
    for _ in range(5):
        give_phone(member)
    assert count() == alone
    settings.VAPID_PRIVATE_KEY = ""
    assert count() == alone


def test_what_goes_wrong_with_a_push_is_no_failure(
    loop: Loop, member: User, owner_key: str, give_phone: GivePhone, settings: Settings
) -> None:
    give_phone(member)
    settings.VAPID_PRIVATE_KEY = "no key"
    assert create(owner_key, loop)["notifications_sent"] == 0
    dropped = Notification.objects.filter(channel="push", state="dropped")
    wait_until(dropped.exists)
    row = dropped.get()
    assert row.error.startswith("Internal error: ")


def test_outsiders_and_the_inactive_are_told_nothing(
    loop: Loop,
    owner: User,
    member: User,
    outsider: User,
    owner_key: str,
    give_phone: GivePhone,
    service: PushService,
) -> None:
    services.choose_mails(user_id=owner.pk, mails="none")
    for person in (outsider, member):
        give_phone(person)
    User.objects.filter(pk=member.pk).update(is_active=False)
    made = create(owner_key, loop)
    assert made["notifications_sent"] == 0
    assert not Notification.objects.exists()
    assert service.got == []
    assert Request.objects.exists()
