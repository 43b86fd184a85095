"""One place of each lane takes the newest: a fresh event does not wait for a long backlog."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.models import User
from tests.webhooks.conftest import Emit, fresh
from webhooks import outbox
from webhooks.models import Circuit, Delivery
from webhooks.outbox import Item, Outcome

pytestmark = pytest.mark.django_db
HOOK = "http://receiver.example/hook"
DELIVERED, WAITING = Delivery.State.DELIVERED, Delivery.State.WAITING
# A long outage: each became due a second after the one before, the last of them an hour ago.
_BACKLOG = """
INSERT INTO webhooks_delivery (id, account_id, event, subject_id, occurrence, url, host, body,
       state, next_attempt_at, failed_attempts, is_manual, created_at)
SELECT lpad(to_hex(n), 21, '0') || right(%(account)s, 3), %(account)s, 'request.completed',
       lpad(to_hex(n), 24, '0'), %(host)s || n, 'http://' || %(host)s || '/hook', %(host)s, '{}',
       'waiting', statement_timestamp() - make_interval(
           secs => 3600 + %(count)s + %(first)s - n), 0, false,
       statement_timestamp()
  FROM generate_series(%(first)s, %(first)s + %(count)s - 1) AS n
"""


def add_backlog(
    account: User, count: int, *, host: str = "receiver.example", first: int = 1
) -> None:
    params = {"account": account.pk, "count": count, "host": host, "first": first}
    with connection.cursor() as cursor:
        cursor.execute(_BACKLOG, params)


def place(item: Item) -> int:
    """The place of an item in the backlog, from 1."""
    return int(item.delivery_id[:21], 16)


def end(item: Item) -> None:
    assert outbox.record(item, Outcome(status=200), state=DELIVERED)


def test_one_place_takes_the_newest_and_the_others_the_oldest(
    emit_to: Emit, owner: User, settings: Settings
) -> None:
    settings.WEBHOOK_PER_HOST = 4
    add_backlog(owner, 50)
    (new,) = emit_to(HOOK)
    claimed = {item.delivery_id: item for item in outbox.claim_due(50)}
    newest = claimed.pop(new.pk)
    assert sorted(map(place, claimed.values())) == [1, 2, 3]
    assert fresh(new).newest_first

    for item in claimed.values():  # while the newest is under way, the oldest go on
        end(item)
    oldest = outbox.claim_due(50)
    assert sorted(map(place, oldest)) == [4, 5, 6]
    (newer,) = emit_to(HOOK)
    assert outbox.claim_due(50) == []
    end(newest)
    assert [item.delivery_id for item in outbox.claim_due(50)] == [newer.pk]


def test_a_lost_claim_of_the_newest_leaves_its_place(emit_to: Emit, owner: User) -> None:
    add_backlog(owner, 50)
    (new,) = emit_to(HOOK)
    (lost,) = (item for item in outbox.claim_due(50) if item.delivery_id == new.pk)
    outbox.give_back(lost)
    assert [item.delivery_id for item in outbox.claim_due(50)] == [new.pk]
    Delivery.objects.filter(pk=new.pk).update(next_attempt_at=Now())  # its worker died
    (newer,) = emit_to(HOOK)
    assert [item.delivery_id for item in outbox.claim_due(50)] == [newer.pk]


def test_a_fresh_event_goes_before_retries(emit_to: Emit, owner: User) -> None:
    """A receiver that fails has retries due all the time, and they are due later than an event."""
    add_backlog(owner, 50)
    (new,) = emit_to(HOOK)
    retries = emit_to(HOOK, count=5)
    retried = Delivery.objects.filter(pk__in=[each.pk for each in retries])
    retried.update(failed_attempts=2, next_attempt_at=Now())
    assert fresh(retries[0]).next_attempt_at > fresh(new).next_attempt_at
    (item,) = (item for item in outbox.claim_due(50) if place(item) > 50)
    assert item.delivery_id == new.pk


@pytest.mark.parametrize("per_host", [1, 4])
def test_a_single_place_takes_the_oldest(
    emit_to: Emit, owner: User, settings: Settings, per_host: int
) -> None:
    """Of a lane with one place, and of a circuit that probes."""
    settings.WEBHOOK_PER_HOST = per_host
    if per_host > 1:
        Circuit.objects.create(account=owner, host="receiver.example", failures=5)
    add_backlog(owner, 50)
    emit_to(HOOK)
    assert [place(item) for item in outbox.claim_due(50)] == [1]


def test_few_are_claimed_once_each(emit_to: Emit, settings: Settings) -> None:
    settings.WEBHOOK_PER_HOST = 4
    for count in (1, 2, 3, 4):
        made = emit_to(HOOK, count=count)
        items = outbox.claim_due(50)
        assert {item.delivery_id for item in items} == {each.pk for each in made}
        for item in items:
            end(item)


@pytest.mark.parametrize("bound", [2, 3, 5, 9, 12])
def test_nothing_starves(owner: User, emit_to: Emit, bound: int) -> None:
    """Three lanes with backlogs, fresh events for ever, and one claim for each that has ended."""
    chance = random.Random(bound)
    hosts = [f"host-{number}.example" for number in range(3)]
    for number, host in enumerate(hosts):
        add_backlog(owner, 100, host=host, first=1 + 1000 * number)
    for host in hosts:
        emit_to(f"http://{host}/hook")
    under_way = outbox.claim_due(50, per_account=bound)
    assert len(under_way) == bound
    oldest = newest = 0
    for _ in range(40):
        emit_to(f"http://{chance.choice(hosts)}/hook")
        end(under_way.pop(chance.randrange(bound)))
        (item,) = outbox.claim_due(50, per_account=1)
        under_way.append(item)
        is_old = place(item) < 3000 and place(item) % 1000 <= 50
        oldest, newest = oldest + is_old, newest + (not is_old)
    assert oldest >= 18  # of 40
    assert newest >= 6


def scanned(plan: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Each scan of the deliveries in a plan, with how many rows it read."""
    if plan.get("Relation Name") == "webhooks_delivery" and "Scan" in plan["Node Type"]:
        read = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)
        yield plan["Node Type"], read * plan["Actual Loops"]
    for child in plan.get("Plans", []):
        yield from scanned(child)


def test_a_claim_reads_no_more_of_a_long_backlog_than_of_a_short_one(
    owner: User, member: User, emit_to: Emit
) -> None:
    read = []
    for count in (5_000, 20_000):
        Delivery.objects.all().delete()
        add_backlog(owner, count)
        add_backlog(member, count, host="other.example", first=100_000)
        emit_to(HOOK)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE webhooks_delivery")
        with CaptureQueriesContext(connection) as captured:
            outbox.claim_due(50)
        Delivery.objects.filter(claim_id__isnull=False).update(
            claim_id=None, next_attempt_at=F("created_at")
        )
        with connection.cursor() as cursor:
            (claim,) = (each["sql"] for each in captured if "RECURSIVE" in each["sql"])
            cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {claim}")
            ((plan,),) = cursor.fetchall()
        scans = list(scanned(plan[0]["Plan"]))
        assert "Seq Scan" not in {kind for kind, _ in scans}
        read.append(sum(rows for _, rows in scans))
    assert django_settings.WEBHOOK_PER_HOST == 4
    assert read[1] == read[0] < 100, read
