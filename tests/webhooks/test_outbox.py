"""Claims and their fences: leases, lanes, turns, and how many statements it takes."""

import threading
import time
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.models import User
from outbox.dispatcher import Dispatcher
from outbox.items import Item, Result
from tests.webhooks.conftest import (
    THREADS,
    Emit,
    answered,
    claim,
    end,
    fresh,
    give_back,
    make_due,
    no_answer,
)
from tests.webhooks.receivers import Received, Receiver, Reply
from webhooks.models import Attempt, Circuit, Delivery
from webhooks.posting import Post

WAITING, DELIVERED, DEAD = Delivery.State.WAITING, Delivery.State.DELIVERED, Delivery.State.DEAD
HOOK = "http://receiver.example/hook"


@pytest.mark.django_db
def test_a_claim_takes_what_it_needs_and_begins_the_attempt(emit_to: Emit) -> None:
    (delivery,) = emit_to(HOOK)
    (item,) = claim(10)
    attempt = delivery.attempts.get()
    assert item == Item(
        ids=(delivery.pk,),
        claim_id=str(fresh(delivery).claim_id),
        account=delivery.account_id,
        lane="receiver.example",
        content=Post(delivery.pk, attempt.pk, "receiver.example", HOOK, bytes(delivery.body)),
    )
    assert attempt.finished_at is None
    assert fresh(delivery).next_attempt_at - attempt.started_at == timedelta(seconds=60)
    assert claim(10) == []


@pytest.mark.django_db
def test_what_is_not_due_is_left_alone(emit_to: Emit) -> None:
    later, dead, delivered = emit_to(HOOK, count=3)
    Delivery.objects.filter(pk=later.pk).update(next_attempt_at=Now() + timedelta(minutes=1))
    Delivery.objects.filter(pk=dead.pk).update(state=DEAD)
    Delivery.objects.filter(pk=delivered.pk).update(state=DELIVERED, delivered_at=Now())
    assert claim(10) == []
    assert not Attempt.objects.exists()


@pytest.mark.django_db
def test_a_lease_that_runs_out_is_claimed_anew_and_fences_the_first_off(emit_to: Emit) -> None:
    (delivery,) = emit_to(HOOK)
    (lost,) = claim(1)
    make_due(delivery)
    (held,) = claim(1)
    assert (held.ids, held.content.body) == (lost.ids, lost.content.body)
    assert held.claim_id != lost.claim_id

    before = fresh(delivery)
    for outcome in (answered(200), no_answer("gone"), answered(410)):
        assert end(lost, outcome) is None
    assert vars(fresh(delivery)) | {"_state": 0} == vars(before) | {"_state": 0}
    interrupted = Attempt.objects.get(pk=lost.content.attempt_id)
    assert interrupted.finished_at == Attempt.objects.get(pk=held.content.attempt_id).started_at
    assert interrupted.error == "Interrupted: no result was recorded in time."
    assert interrupted.status_code is None
    assert not Circuit.objects.exists()

    assert end(held, answered(200)) == Result.SENT
    assert fresh(delivery).state == "delivered"
    assert end(held, answered(500)) is None
    assert fresh(delivery).state == "delivered"


@pytest.mark.django_db
def test_a_late_worker_closes_no_circuit(emit_to: Emit) -> None:
    (delivery,) = emit_to(HOOK)
    (lost,) = claim(1)
    make_due(delivery)
    claim(1)
    Circuit.objects.create(account_id=delivery.account_id, host="receiver.example", failures=4)
    end(lost, answered(200))
    assert Circuit.objects.get().failures == 4


@pytest.mark.django_db
def test_a_lease_that_ran_out_unnoticed_still_counts(emit_to: Emit) -> None:
    (delivery,) = emit_to(HOOK)
    (item,) = claim(1)
    make_due(delivery)
    assert end(item, answered(200)) == Result.SENT
    assert claim(1) == []


@pytest.mark.django_db
def test_a_host_gets_a_few_at_a_time(emit_to: Emit, settings: Settings) -> None:
    settings.WEBHOOK_PER_HOST = 3
    emit_to(HOOK, count=5)
    first = claim(50)
    assert len(first) == 3
    assert claim(50) == []
    end(first[0], answered(200))
    assert len(claim(50)) == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    "other",
    [
        "http://Receiver.example/x",
        "https://receiver.example/",
        "http://me:pw@receiver.example/hook",
    ],
)
def test_spellings_of_a_host_share_its_lane(emit_to: Emit, settings: Settings, other: str) -> None:
    settings.WEBHOOK_PER_HOST = 2
    emit_to(HOOK, count=2)
    emit_to(other, count=2)
    assert len(claim(50)) == 2


@pytest.mark.django_db
def test_accounts_take_turns(
    emit_to: Emit, owner: User, member: User, outsider: User, operator: User
) -> None:
    """However many hosts one account has, another one's delivery is in the next claim."""
    for number in range(40):
        emit_to(f"http://host-{number}.example/", count=10)
    others = [member, outsider, operator]
    for account in others:
        emit_to("http://theirs.example/", account)
    claimed = Counter(item.account for item in claim(16))
    assert claimed == {owner.pk: 13, **{account.pk: 1 for account in others}}

    emit_to("http://theirs.example/", member, count=3)
    claimed = Counter(item.account for item in claim(4))
    assert claimed == {member.pk: 3, owner.pk: 1}


@pytest.mark.django_db
def test_an_account_gets_no_more_than_is_asked_for(
    emit_to: Emit, owner: User, member: User, outsider: User
) -> None:
    for account in (owner, member, outsider):
        for number in range(5):
            emit_to(f"http://host-{number}.example/", account, count=4)
    claimed = Counter(item.account for item in claim(50, share=8, full_accounts=[owner.pk]))
    assert claimed == {member.pk: 8, outsider.pk: 8}
    assert len(claim(50, share=3, full_accounts=[member.pk, outsider.pk])) == 3


@pytest.mark.django_db
def test_the_oldest_of_a_lane_comes_first(emit_to: Emit) -> None:
    new, old = emit_to(HOOK, count=2)
    make_due(old)
    assert [item.content.delivery_id for item in claim(1)] == [old.pk]
    assert [item.content.delivery_id for item in claim(1)] == [new.pk]


@pytest.mark.django_db
def test_statements_of_a_claim_and_of_a_record(emit_to: Emit) -> None:
    """The lock, the claim and the load, however many are claimed; one for each record."""
    for number in range(5):
        emit_to(f"http://host-{number}.example/", count=4)
    with CaptureQueriesContext(connection) as queries:
        items = claim(20)
    assert len(items) == 20
    assert sum("SAVEPOINT" not in query["sql"] for query in queries) == 3
    for outcome in (answered(204), no_answer("x")):
        with CaptureQueriesContext(connection) as queries:
            end(items.pop(), outcome)
        assert len(queries) == 1


@pytest.mark.django_db(transaction=True)
def test_workers_that_claim_at_once_never_share_nor_exceed(
    emit_to: Emit, settings: Settings
) -> None:
    settings.WEBHOOK_PER_HOST = 5
    emit_to(HOOK, count=40)
    emit_to("http://other.example/", count=40)
    claimed: list[Item[Post]] = []
    together = threading.Barrier(6)

    def work() -> None:
        together.wait(10)
        claimed.extend(claim(4))
        connection.close()

    workers = [threading.Thread(target=work) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(20)
    assert Counter(item.lane for item in claimed) == {
        "receiver.example": 5,
        "other.example": 5,
    }
    assert len({item.ids for item in claimed}) == Attempt.objects.count() == 10


@pytest.mark.django_db(transaction=True)
def test_a_receiver_sees_no_more_than_its_share_at_once(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit, settings: Settings
) -> None:
    settings.WEBHOOK_PER_HOST = 2
    gate = threading.Barrier(2)

    def together(received: Received) -> Reply:
        gate.wait(10)  # nobody gets through alone
        return Reply()

    receiver.respond = together
    emit_to(receiver.url, count=10)
    assert dispatcher.run_due() == 10
    assert receiver.most_at_once == 2
    assert Delivery.objects.filter(state=DELIVERED).count() == 10


@pytest.mark.django_db(transaction=True)
def test_a_lost_worker_is_made_up_for(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit
) -> None:
    """It claimed and died: the same id and bytes go out once its lease has run out."""
    (delivery,) = emit_to(receiver.url)
    claim(1)
    assert dispatcher.run_due() == 0
    make_due(delivery)
    assert dispatcher.run_due() == 1
    assert [(got.webhook_id, got.body) for got in receiver.got] == [
        (delivery.pk, bytes(delivery.body))
    ]
    ends = delivery.attempts.order_by("started_at").values_list("status_code", flat=True)
    assert list(ends) == [None, 204]


@pytest.mark.django_db(transaction=True)
def test_what_waited_too_long_for_a_thread_is_claimed_anew(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit, settings: Settings
) -> None:
    """Its POST could outlive the lease, and another worker would post it at the same time."""
    settings.WEBHOOK_PER_HOST = 100
    settings.WEBHOOK_TIMEOUT_SECONDS, settings.WEBHOOK_LEASE_SECONDS = 5, 5.3

    def slowly(received: Received) -> Reply:
        time.sleep(0.6)
        return Reply()

    receiver.respond = slowly
    count = 3 * THREADS
    emit_to(receiver.url, count=count)
    assert dispatcher.run_due() > count
    assert len(receiver.got) == Delivery.objects.filter(state=DELIVERED).count() == count
    assert Attempt.objects.filter(status_code=204).count() == Attempt.objects.count() == count


@pytest.mark.django_db(transaction=True)
def test_a_stop_gives_back_what_was_claimed_ahead(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit, settings: Settings
) -> None:
    settings.WEBHOOK_PER_HOST = 100

    def stop(received: Received) -> Reply:
        dispatcher.stop()
        return Reply()

    receiver.respond = stop
    emit_to(receiver.url, count=30)
    dispatcher.run_due()
    made = len(receiver.got)
    assert 1 <= made <= THREADS
    assert Attempt.objects.filter(status_code=204).count() == Attempt.objects.count() == made
    assert Delivery.objects.filter(state=WAITING, claim_id=None).count() == 30 - made


@pytest.mark.django_db
def test_only_the_holder_of_a_claim_gives_it_back(emit_to: Emit) -> None:
    (delivery,) = emit_to(HOOK)
    (lost,) = claim(1)
    make_due(delivery)
    (held,) = claim(1)
    give_back(lost)
    assert fresh(delivery).claim_id == held.claim_id
    assert Attempt.objects.count() == 2
    give_back(held)
    assert Attempt.objects.get().pk == lost.content.attempt_id
    assert len(claim(1)) == 1
