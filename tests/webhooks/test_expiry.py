"""Deliveries that are never attempted again: held back too long, or orphaned test events."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import User
from tests.webhooks.conftest import Emit, answered, claim, end, fresh, make_due
from webhooks import expiry, services
from webhooks.channel import INTERRUPTED, TEST
from webhooks.models import Circuit, Delivery

pytestmark = pytest.mark.django_db
HOOK = "http://receiver.example/hook"
WHOLE = timedelta(seconds=1.2 * 272_555)  # the schedule at its longest: 91 hours


PROBES = 550  # in the time of a schedule, every ten minutes


def open_circuit(account: User, *, minutes: int = 5, failures: int = PROBES) -> None:
    until = Now() + timedelta(minutes=minutes)
    Circuit.objects.create(
        account=account, host="receiver.example", failures=failures, open_until=until
    )


def due_since(delivery: Delivery, ago: timedelta) -> None:
    Delivery.objects.filter(pk=delivery.pk).update(next_attempt_at=Now() - ago)


def test_what_a_dead_host_held_back_for_a_whole_schedule_is_dead(
    emit_to: Emit, owner: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    old, younger, elsewhere = *emit_to(HOOK, count=2), *emit_to("http://other.example/")
    due_since(old, WHOLE + timedelta(seconds=5))
    due_since(younger, WHOLE - timedelta(seconds=5))
    due_since(elsewhere, 2 * WHOLE)
    open_circuit(owner)
    with django_assert_num_queries(1):
        assert expiry.expire() == 1
    assert [fresh(each).state for each in (old, younger, elsewhere)] == [
        "dead", "waiting", "waiting",
    ]  # fmt: skip
    services.resend(account_id=owner.pk, delivery_id=old.pk)
    assert expiry.expire() == 0
    assert fresh(old).state == "waiting"


def test_nothing_dies_of_an_absence_of_ours(emit_to: Emit, owner: User) -> None:
    """Workers were away for a week: what is due is attempted before anything is given up."""
    (delivery,) = emit_to(HOOK)
    due_since(delivery, 2 * WHOLE)
    assert expiry.expire() == 0
    open_circuit(owner, minutes=-5)
    assert expiry.expire() == 0
    (probe,) = claim(5)
    assert expiry.expire() == 0
    end(probe, answered(204))
    assert fresh(delivery).state == "delivered"


def test_nothing_dies_because_its_host_fails_after_an_absence_of_ours(
    emit_to: Emit, owner: User
) -> None:
    """Nobody has tried for as long as it is due."""
    (delivery,) = emit_to(HOOK)
    due_since(delivery, 2 * WHOLE)
    open_circuit(owner, failures=20)
    assert expiry.expire() == 0
    assert fresh(delivery).state == "waiting"


def test_the_schedules_scale_counts(emit_to: Emit, owner: User, settings: Settings) -> None:
    settings.WEBHOOK_SCHEDULE_SCALE = 0.001
    (delivery,) = emit_to(HOOK)
    due_since(delivery, WHOLE / 900)
    open_circuit(owner, failures=5)
    assert expiry.expire() == 1
    assert fresh(delivery).state == "dead"


def test_a_few_hundred_at_a_time(
    emit_to: Emit, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expiry, "MAX_BATCH", 3)
    for delivery in emit_to(HOOK, count=7):
        due_since(delivery, 2 * WHOLE)
    open_circuit(owner)
    assert [expiry.expire() for _ in range(4)] == [3, 3, 1, 0]


@pytest.mark.django_db(transaction=True)
def test_two_workers_give_up_side_by_side(
    emit_to: Emit, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither waits for what the other has locked, so they cannot wait for each other."""
    monkeypatch.setattr(expiry, "MAX_BATCH", 3)
    for delivery in emit_to(HOOK, count=5):
        due_since(delivery, 2 * WHOLE)
    open_circuit(owner)

    def expire_alone() -> int:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '2s'")
            return expiry.expire()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as other, transaction.atomic():
        assert expiry.expire() == 3
        assert other.submit(expire_alone).result(10) == 2


def test_a_test_event_whose_worker_was_lost_is_dead_and_never_claimed_again(owner: User) -> None:
    delivery = services.request_test(account_id=owner.pk, url=HOOK, now=timezone.now())
    (item,) = claim(5, channel=TEST)
    assert (claim(5, channel=TEST), expiry.expire()) == ([], 0)
    make_due(delivery)
    assert claim(5, channel=TEST) == []
    assert expiry.expire() == 1
    assert (fresh(delivery).state, fresh(delivery).claim_id) == ("dead", None)
    assert delivery.attempts.get().error == INTERRUPTED
    assert delivery.attempts.get().finished_at is not None
    assert not end(item, answered(200))
