"""Test events in the worker: they wait for nothing, and real deliveries do not suffer from them."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone
from pytest_django import Settings

from accounts.models import User
from tests.webhooks.conftest import Emit, claim, deliver_here, fresh, give_back
from tests.webhooks.receivers import Receiver, dead_url
from webhooks import services
from webhooks.channel import TEST, TESTS_AT_ONCE
from webhooks.emission import host_of
from webhooks.models import Circuit, Delivery
from webhooks.services import MAX_TESTS, TooManyTests

pytestmark = pytest.mark.django_db
HOOK = "http://receiver.example/hook"


def ask(account: User, url: str = HOOK) -> Delivery:
    return services.request_test(account_id=account.pk, url=url, now=timezone.now())


def open_circuit(account: User, host: str) -> None:
    until = Now() + timedelta(minutes=5)
    Circuit.objects.create(account=account, host=host, failures=7, open_until=until)


def test_it_goes_before_a_backlog_and_through_an_open_circuit(emit_to: Emit, owner: User) -> None:
    emit_to(HOOK, count=30)
    emit_to("http://other.example/hook", count=30)
    open_circuit(owner, "receiver.example")
    test = ask(owner)
    (item,) = claim(2, channel=TEST)  # which has threads of its own
    assert item.content.delivery_id == test.pk
    assert {item.content.host for item in claim(9)} == {"other.example"}


def test_an_account_has_a_few_under_way_and_each_once(owner: User, member: User) -> None:
    tests = [ask(owner, f"http://host-{number}.example/") for number in range(MAX_TESTS)]
    theirs = ask(member)
    claimed = {item.content.delivery_id: item for item in claim(50, channel=TEST)}
    assert set(claimed) == {theirs.pk, *(each.pk for each in tests[:TESTS_AT_ONCE])}
    assert claim(50, channel=TEST) == []
    give_back(claimed[tests[0].pk])
    (item,) = claim(50, channel=TEST)
    assert item.content.delivery_id in {each.pk for each in tests[:1] + tests[TESTS_AT_ONCE:]}


def test_it_takes_no_place_of_a_delivery(emit_to: Emit, owner: User, settings: Settings) -> None:
    settings.WEBHOOK_PER_HOST = 2
    ask(owner)
    assert len(claim(50, channel=TEST)) == 1
    made = emit_to(HOOK, count=2)
    assert {item.content.delivery_id for item in claim(50)} == {each.pk for each in made}


def test_its_failure_opens_no_circuit(owner: User) -> None:
    url = dead_url()
    for _ in range(7):
        ask(owner, url)
        assert deliver_here() == 1
    assert not Circuit.objects.exists()
    open_circuit(owner, host_of(url))
    before = Circuit.objects.values().get()
    ask(owner, url)
    assert deliver_here() == 1
    assert Circuit.objects.values().get() == before


def test_its_success_ends_the_pause_of_deliveries(
    receiver: Receiver, emit_to: Emit, owner: User
) -> None:
    (held,) = emit_to(receiver.url)
    open_circuit(owner, host_of(receiver.url))
    assert deliver_here() == 0
    ask(owner, receiver.url)
    assert deliver_here() == 1
    assert deliver_here() == 1
    assert fresh(held).state == "delivered"


@pytest.mark.django_db(transaction=True)
def test_two_at_once_count_each_other(owner: User) -> None:
    together = threading.Barrier(10)
    refused: list[bool] = []

    def work() -> None:
        try:
            together.wait(10)
            ask(owner)
            refused.append(False)
        except TooManyTests:
            refused.append(True)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(refused) == [False] * MAX_TESTS + [True] * (10 - MAX_TESTS)
    assert Delivery.objects.count() == MAX_TESTS
