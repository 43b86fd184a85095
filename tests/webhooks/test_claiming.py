"""Claims of several workers at once, and the walk through more lanes than one claim sees."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from accounts.services import create_account
from db.ids import new_id
from tests.backends import backends
from tests.waiting import wait_until
from tests.webhooks.conftest import Emit, event_of
from webhooks import outbox
from webhooks.models import Delivery
from webhooks.services import enqueue

ONE_TRANSACTION = 4  # statements: savepoint, lanes, claim, release


def emit_to_hosts(account: User, count: int) -> None:
    """One event for each of so many hosts."""
    urls = [f"http://host{number:04}.example/" for number in range(count)]
    enqueue([event_of(account, url, new_id()) for url in urls])


@contextmanager
def claiming_elsewhere(*accounts: User) -> Iterator[None]:
    """Another worker is in the middle of a claim for these accounts."""
    other = connection.copy()
    other.set_autocommit(False)
    try:
        with other.cursor() as cursor:
            for account in accounts:
                cursor.execute(
                    "SELECT pg_advisory_xact_lock(%s, hashtext(%s))",
                    [outbox._CLAIMS_OF_AN_ACCOUNT, account.pk],
                )
        yield
    finally:
        other.rollback()
        other.close()


@pytest.mark.django_db
def test_nothing_due_is_one_statement(
    emit_to: Emit, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    emit_to("http://a.example/")
    assert len(outbox.claim_due(5)) == 1
    with django_assert_num_queries(ONE_TRANSACTION - 1):
        assert outbox.claim_due(5) == []


@pytest.mark.django_db
def test_many_lanes_are_walked_through_in_turn(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "LANES", 10)
    emit_to_hosts(owner, 45)
    walk = outbox.Walk()
    seen = [[item.host for item in outbox.claim_due(10, walk=walk)] for _ in range(6)]
    assert [len(hosts) for hosts in seen] == [10, 10, 10, 10, 5, 0]
    assert len({host for hosts in seen for host in hosts}) == 45
    assert seen[0] < seen[1] < seen[2] < seen[3] < seen[4]


@pytest.mark.django_db
def test_a_claim_goes_on_to_lanes_that_have_room(
    owner: User, member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also from the last lane to the first, and past those of an account that has its share."""
    monkeypatch.setattr(outbox, "LANES", 10)
    first, second = sorted((owner, member), key=lambda user: user.pk)
    emit_to_hosts(first, 35)
    emit_to_hosts(second, 35)
    walk = outbox.Walk()
    claimed = Counter(item.account_id for item in outbox.claim_due(24, per_account=12, walk=walk))
    assert claimed == {first.pk: 12, second.pk: 12}
    claimed = Counter(item.account_id for item in outbox.claim_due(24, per_account=12, walk=walk))
    assert claimed == {first.pk: 12, second.pk: 12}


@pytest.mark.django_db
def test_an_account_with_many_hosts_costs_few_statements(
    owner: User, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    monkeypatch.setattr(outbox, "LANES", 10)
    emit_to_hosts(owner, 95)
    with django_assert_num_queries(ONE_TRANSACTION + ONE_TRANSACTION - 1):
        assert len(outbox.claim_due(10, per_account=5)) == 5


@pytest.mark.django_db(transaction=True)
def test_accounts_of_another_claim_are_left_to_it(emit_to: Emit, owner: User, member: User) -> None:
    emit_to("http://a.example/", owner, count=3)
    emit_to("http://a.example/", member, count=3)
    with claiming_elsewhere(owner):
        assert {item.account_id for item in outbox.claim_due(9)} == {member.pk}
    assert {item.account_id for item in outbox.claim_due(9)} == {owner.pk}


@pytest.mark.django_db(transaction=True)
def test_a_claim_waits_where_others_claim_for_all(emit_to: Emit, owner: User) -> None:
    emit_to("http://a.example/", owner, count=3)
    found: list[outbox.Item] = []

    def claim() -> None:
        found.extend(outbox.claim_due(9))
        connection.close()

    worker = threading.Thread(target=claim)
    with claiming_elsewhere(owner):
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
    monkeypatch.setattr(outbox, "LANES", 3)
    people = [create_account(email=f"p{number}@example.com", name="P") for number in range(8)]
    urls = [f"http://h{number}.example/" for number in range(3)]
    enqueue(
        [event_of(person, url, new_id()) for person in people for url in urls for _ in range(6)]
    )
    claims: list[outbox.Item] = []

    def claim() -> None:
        walk = outbox.Walk()
        for _ in range(12):
            claims.extend(outbox.claim_due(5, walk=walk))
        connection.close()

    workers = [threading.Thread(target=claim) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert len({item.delivery_id for item in claims}) == len(claims)
    lanes = Counter((item.account_id, item.host) for item in claims)
    assert set(lanes.values()) == {4}  # WEBHOOK_PER_HOST; nothing was recorded meanwhile
    assert len(lanes) == len(people) * len(urls)
    assert Delivery.objects.filter(claim_id=None).count() == len(people) * len(urls) * 2
