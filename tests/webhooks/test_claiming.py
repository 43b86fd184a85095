"""Claims of several workers at once, and more lanes than one claim sees."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from accounts.services import create_account
from db.ids import new_id
from outbox import claiming
from outbox.dispatcher import Dispatcher
from outbox.items import Item
from tests.backends import backends
from tests.waiting import wait_until
from tests.webhooks.conftest import Emit, claim, claim_from, event_of
from tests.webhooks.receivers import Receiver
from webhooks.channel import WEBHOOK
from webhooks.emission import enqueue
from webhooks.models import Circuit, Delivery
from webhooks.posting import Post

ONE_TRANSACTION = 5  # statements: savepoint, lock, claim, load, release


def emit_to_hosts(account: User, count: int) -> None:
    """One event for each of so many hosts."""
    urls = [f"http://host{number:04}.example/" for number in range(count)]
    enqueue([event_of(account, url, new_id()) for url in urls])


@contextmanager
def claiming_elsewhere() -> Iterator[None]:
    """Another worker is in the middle of a claim."""
    other = connection.copy()
    other.set_autocommit(False)
    try:
        with other.cursor() as cursor:
            params: dict[str, Any] = {"lock": claiming._LOCK, "channel": WEBHOOK.name}
            cursor.execute(claiming._ONE_AT_A_TIME, params)
        yield
    finally:
        other.rollback()
        other.close()


@pytest.mark.django_db
def test_nothing_due_is_one_statement(
    emit_to: Emit, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    emit_to("http://a.example/")
    assert len(claim(5)) == 1
    with django_assert_num_queries(ONE_TRANSACTION - 1):
        assert claim(5) == []


@pytest.mark.django_db
def test_claims_go_round_through_many_lanes(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claiming, "LANES", 10)
    emit_to_hosts(owner, 25)
    start, seen = claiming.FIRST, []
    for _ in range(3):
        found = claim_from(start, 20)
        start = found.following
        seen.append([item.lane for item in found.items])
    assert [len(hosts) for hosts in seen] == [
        10,
        9,
        6,
    ]  # the last lane of a claim is looked at again
    assert len({host for hosts in seen for host in hosts}) == 25
    assert seen[0] < seen[1] < seen[2]
    assert start == claiming.FIRST


@pytest.mark.django_db(transaction=True)
def test_a_run_goes_through_all_lanes(
    dispatcher: Dispatcher[Post], owner: User, monkeypatch: pytest.MonkeyPatch, receiver: Receiver
) -> None:
    """Also those behind lanes that may have nothing more, and those before where it began."""
    monkeypatch.setattr(claiming, "LANES", 5)
    emit_to_hosts(owner, 12)
    Circuit.objects.bulk_create(
        Circuit(account=owner, host=each.host, failures=9, open_until=Now() + timedelta(hours=1))
        for each in Delivery.objects.all()
    )
    enqueue([event_of(owner, receiver.url, new_id())])
    dispatcher._start = (owner.pk, "host0008.example")
    assert dispatcher.run_due() == 1
    assert len(receiver.got) == 1


@pytest.mark.django_db(transaction=True)
def test_a_claim_waits_for_another(emit_to: Emit, owner: User) -> None:
    emit_to("http://a.example/", owner, count=3)
    found: list[Item[Post]] = []

    def work() -> None:
        found.extend(claim(9))
        connection.close()

    worker = threading.Thread(target=work)
    with claiming_elsewhere():
        worker.start()
        wait_until(lambda: backends("wait_event = 'advisory'"))
        assert found == []
    worker.join(20)
    assert len(found) == 3


@pytest.mark.django_db(transaction=True)
def test_workers_that_claim_at_once_share_the_deliveries(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each delivery is claimed once, and no host gets more than its share."""
    monkeypatch.setattr(claiming, "LANES", 3)
    people = [create_account(email=f"p{number}@example.com", name="P") for number in range(8)]
    urls = [f"http://h{number}.example/" for number in range(3)]
    enqueue(
        [event_of(person, url, new_id()) for person in people for url in urls for _ in range(6)]
    )
    claims: list[Item[Post]] = []

    def claim() -> None:
        start = claiming.FIRST
        for _ in range(60):
            found = claim_from(start, 5)
            start = found.following
            claims.extend(found.items)
        connection.close()

    workers = [threading.Thread(target=claim) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert len({item.ids for item in claims}) == len(claims)
    lanes = Counter((item.account, item.lane) for item in claims)
    assert set(lanes.values()) == {4}  # WEBHOOK_PER_HOST; nothing was recorded meanwhile
    assert len(lanes) == len(people) * len(urls)
    assert Delivery.objects.filter(claim_id=None).count() == len(people) * len(urls) * 2


@pytest.mark.django_db
def test_hosts_that_fail_leave_room_for_what_is_newer(
    dispatcher: Dispatcher[Any], emit_to: Emit, owner: User
) -> None:
    """A receiver that many accounts use has died; its threads are all taken."""
    for number in range(40):
        account = create_account(email=f"p{number}@example.com", name="P")
        Circuit.objects.create(account=account, host="dead.example", failures=1)
        emit_to("http://dead.example/", account)
    (newer,) = emit_to("http://fine.example/", owner)
    for _ in range(2):
        dispatcher._claim()
    assert Delivery.objects.get(pk=newer.pk).claim_id is not None
    assert Delivery.objects.filter(host="dead.example", claim_id__isnull=False).count() == 12
