"""Deliveries and attempts go after the days that the service keeps them; what waits stays."""

import time
from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import User
from db.ids import owned_id
from webhooks import retention, tasks
from webhooks.emission import Event, enqueue
from webhooks.models import Attempt, Circuit, Delivery

pytestmark = pytest.mark.django_db


def prune() -> int:
    return retention.prune(until=time.monotonic() + 10)


def delivery(account: User, *, days: float, state: str = "dead", attempts: int = 1) -> Delivery:
    """A delivery of so many days ago, with attempts of that time."""
    pk = owned_id(account.pk)
    event = Event(account.pk, "https://hooks.example/a", "request.completed", pk, f"{pk}:end", {})
    enqueue([event])
    row = Delivery.objects.get(pk=event.id)
    ago = timedelta(days=days)
    at = int((time.time() - ago.total_seconds()) * 1000)
    for _ in range(attempts):
        attempt_id = f"{at:012x}{owned_id(account.pk)[12:]}"
        Attempt.objects.create(id=attempt_id, account=account, delivery=row)
    changes = {"delivered_at": F("created_at")} if state == "delivered" else {}
    Delivery.objects.filter(pk=row.pk).update(
        created_at=F("created_at") - ago, state=state, **changes
    )
    return row


def test_old_deliveries_go_and_attempts_before_them(
    owner: User, outsider: User, settings: Settings
) -> None:
    settings.KEEP_DELIVERIES_DAYS, settings.KEEP_ATTEMPTS_DAYS = 90, 30
    for account in (owner, outsider):
        delivery(account, days=91)
        delivery(account, days=91, state="delivered")
    middle = delivery(owner, days=31)
    fresh = delivery(owner, days=29)
    assert prune() == 4 + 1 + 4
    assert set(Delivery.objects.values_list("pk", flat=True)) == {middle.pk, fresh.pk}
    assert set(Attempt.objects.values_list("delivery_id", flat=True)) == {fresh.pk}
    assert prune() == 0


def test_what_waits_stays(owner: User, settings: Settings) -> None:
    settings.KEEP_DELIVERIES_DAYS, settings.KEEP_ATTEMPTS_DAYS = 4, None
    waiting = delivery(owner, days=400, state="waiting")
    delivery(owner, days=400)
    assert prune() == 1
    assert Delivery.objects.get().pk == waiting.pk
    assert Attempt.objects.count() == 1


def test_for_ever(owner: User, settings: Settings) -> None:
    settings.KEEP_DELIVERIES_DAYS = settings.KEEP_ATTEMPTS_DAYS = None
    delivery(owner, days=4_000)
    assert prune() == 0


@pytest.mark.parametrize(
    ("hours", "failures", "waits", "stays"),
    [
        (None, 4, False, False),
        (None, 4, True, True),
        (-25, 9, False, False),
        (-23, 9, False, True),
        (-25, 9, True, True),
        (1, 9, False, True),
    ],
)
def test_a_circuit_that_nobody_needs_goes(
    owner: User, hours: int | None, failures: int, waits: bool, stays: bool
) -> None:
    open_until = None if hours is None else timezone.now() + timedelta(hours=hours)
    Circuit.objects.create(
        account=owner, host="hooks.example", failures=failures, open_until=open_until
    )
    delivery(owner, days=1, state="waiting" if waits else "dead")
    prune()
    assert Circuit.objects.exists() == stays


def test_statements(
    owner: User, outsider: User, settings: Settings,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:  # fmt: skip
    settings.KEEP_DELIVERIES_DAYS, settings.KEEP_ATTEMPTS_DAYS = 90, 30
    for _ in range(3):
        delivery(owner, days=91)
    delivery(outsider, days=1)
    # circuits, attempts, accounts, a transaction of three
    with django_assert_num_queries(1 + 1 + 1 + 2 + 3):
        assert prune() == 6
    with django_assert_num_queries(1 + 1 + 1):
        assert prune() == 0


def test_a_restored_copy_keeps_everything(owner: User, settings: Settings) -> None:
    settings.DELIVERIES_ARE_ON = False
    delivery(owner, days=4_000)
    assert tasks.prune_deliveries() == 0
    settings.DELIVERIES_ARE_ON = True
    assert tasks.prune_deliveries() == 2
