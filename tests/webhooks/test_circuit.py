"""The circuit breaker of an account and host; a dead host delays no others (issue 3)."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from pytest_django import Settings

from accounts.models import User
from outbox.dispatcher import Dispatcher
from outbox.items import Outcome, Result
from tests.waiting import stretched
from tests.webhooks.conftest import (
    Emit,
    answered,
    claim,
    end,
    end_pause,
    fresh,
    make_due,
    no_answer,
)
from tests.webhooks.receivers import Receiver, dead_url, receiving
from webhooks.models import Attempt, Circuit, Delivery

pytestmark = pytest.mark.django_db
COMMITTED = pytest.mark.django_db(transaction=True)  # where threads look
HOOK = "http://receiver.example/hook"
DEAD_HOST = no_answer("Connection refused")


def fail_once(outcome: Outcome = DEAD_HOST) -> None:
    """One claim that ends like this, and is due again at once."""
    (item,) = claim(1)
    end(item, outcome)
    Delivery.objects.filter(pk=item.content.delivery_id).update(next_attempt_at=Now())


def pause() -> float | None:
    """Seconds for which the one circuit is open."""
    until, now = Circuit.objects.values_list("open_until", Now()).get()
    return None if until is None else (until - now).total_seconds()


def test_five_failures_in_a_row_open_it(emit_to: Emit) -> None:
    emit_to(HOOK, count=10)
    for number in range(1, 6):
        assert Circuit.objects.filter(open_until__isnull=False).count() == 0
        fail_once()
        assert Circuit.objects.get().failures == number
    assert 25 < (pause() or 0) <= 30
    assert claim(10) == []


def test_an_answer_in_between_starts_the_count_anew(emit_to: Emit) -> None:
    emit_to(HOOK, count=10)
    for _ in range(3):
        for _ in range(4):
            fail_once()
        fail_once(answered(500))
        assert not Circuit.objects.exists()
    assert len(claim(10)) > 1


def test_a_refused_address_neither_opens_nor_closes_it(emit_to: Emit) -> None:
    emit_to(HOOK, count=10)
    for _ in range(3):
        fail_once()
    for _ in range(6):
        fail_once(Outcome(Result.RETRY, "10.0.0.1 is not a public address."))
    assert Circuit.objects.get().failures == 3


def test_one_probe_at_a_time_and_the_pause_doubles_up_to_ten_minutes(emit_to: Emit) -> None:
    emit_to(HOOK, count=10)
    for _ in range(5):
        fail_once()
    for expected in (60, 120, 240, 480, 600, 600, 600):
        end_pause()
        (probe,) = claim(10)
        assert claim(10) == []
        end(probe, DEAD_HOST)
        assert expected - 5 < (pause() or 0) <= expected
        assert claim(10) == []


def test_a_probe_that_is_answered_closes_it(emit_to: Emit) -> None:
    emit_to(HOOK, count=10)
    for _ in range(5):
        fail_once()
    end_pause()
    fail_once(answered(503))
    assert not Circuit.objects.exists()
    assert len(claim(10)) == 4


def test_failures_that_were_under_way_do_not_lengthen_the_pause(emit_to: Emit) -> None:
    emit_to(HOOK, count=10)
    for _ in range(3):
        fail_once()
    for item in claim(4):
        end(item, DEAD_HOST)
    assert Circuit.objects.get().failures == 5
    assert 25 < (pause() or 0) <= 30


def test_an_interrupted_delivery_is_suspect(emit_to: Emit) -> None:
    """Its response may be what killed the worker; it uses up no attempt."""
    emit_to("https://receiver.example/")
    for is_suspect in (False, True, True):
        (item,) = claim(10)
        assert (item.is_suspect, item.failed_attempts) == (is_suspect, 0)
        Delivery.objects.update(next_attempt_at=Now() - timedelta(seconds=1))


def test_a_host_is_suspect_until_it_answers(emit_to: Emit) -> None:
    deliveries = emit_to(HOOK, count=2)
    fail_once()
    emit_to("http://other.example/")
    suspects = {item.content.host: item.is_suspect for item in claim(10)}
    assert suspects == {"receiver.example": True, "other.example": False}
    make_due(*deliveries)
    fail_once(answered(500))
    Delivery.objects.update(claim_id=None)  # one that is still claimed is suspect itself
    assert [item.is_suspect for item in claim(10)] == [False, False]


def test_a_probe_that_is_lost_is_followed_by_another(emit_to: Emit) -> None:
    deliveries = emit_to(HOOK, count=10)
    for _ in range(5):
        fail_once()
    end_pause()
    assert len(claim(10)) == 1
    make_due(*deliveries)
    assert len(claim(10)) == 1


def test_it_belongs_to_the_account_and_the_host(emit_to: Emit, member: User) -> None:
    emit_to(HOOK, count=5)
    for _ in range(5):
        fail_once()
    emit_to("http://receiver.example:8080/hook")
    emit_to(HOOK, member)
    assert len(claim(10)) == 2


@COMMITTED
def test_a_receiver_comes_back(dispatcher: Dispatcher[Any], emit_to: Emit) -> None:
    """Refused connections open it; nothing is lost, and all arrive once the host answers."""
    with receiving() as receiver:
        url = receiver.url
    deliveries = emit_to(url, count=12)
    assert dispatcher.run_due() < 12
    assert 5 <= Attempt.objects.count() <= 8
    assert Circuit.objects.get().open_until is not None
    make_due(*deliveries)
    assert dispatcher.run_due() == 0
    with receiving(port=receiver.port) as back:
        end_pause()
        dispatcher.run_due()
        assert {got.webhook_id for got in back.got} == {delivery.pk for delivery in deliveries}
    assert not Circuit.objects.exists()
    assert Delivery.objects.filter(state="delivered").count() == 12


@COMMITTED
def test_5000_events_to_a_dead_host_delay_nobody_else(
    dispatcher: Dispatcher[Any],
    emit_to: Emit,
    receiver: Receiver,
    owner: User,
    member: User,
    settings: Settings,
) -> None:
    """At most a few of them are ever under way, so another account's go out with the same run."""
    settings.WEBHOOK_TIMEOUT_SECONDS = 1
    with receiving() as silent:
        silent.free.clear()
        emit_to(silent.url, count=5000)
        theirs = emit_to(receiver.url, member, count=20)
        dispatcher.run_due()
        assert len(silent.got) <= 8
    assert len(receiver.got) == 20
    waits = [at - each.created_at for each in theirs if (at := fresh(each).delivered_at)]
    assert max(waits) < timedelta(seconds=stretched(2))
    assert Circuit.objects.get().failures == 5
    dead = Attempt.objects.filter(delivery__account_id=owner.pk).order_by("started_at")
    spans = list(dead.values_list("started_at", "finished_at"))
    assert 5 <= len(spans) <= 8
    for moment, _ in spans:
        assert sum(start <= moment < (end or moment) for start, end in spans) <= 4


@COMMITTED
def test_a_url_without_a_host_that_answers_is_a_lane_too(
    dispatcher: Dispatcher[Any], emit_to: Emit
) -> None:
    (delivery,) = emit_to(dead_url())
    dispatcher.run_due()
    assert Circuit.objects.get().host == fresh(delivery).host
