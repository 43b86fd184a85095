"""Versions of a request, in races and when one of them is removed."""

import json
import threading
from collections import Counter
from typing import Any

import pytest
from django.db import IntegrityError, connection, connections, transaction

from accounts.models import User
from loops.models import Loop
from reviews import retention, services, versions
from reviews.lifecycle import transitions
from reviews.models import Request
from tests.backends import waiting_for_locks
from tests.reviews.conftest import FIELDS, Make, acting, make_overdue
from tests.waiting import wait_until
from webhooks.models import LoggedEvent

RUNNERS = 8


def replace(older: Request, owner: User, **changes: Any) -> Request:
    """The next version of a request: the same again with changes."""
    same = {name: getattr(older, name) for name in FIELDS}
    fields = {**same, "context": older.context, **changes, "replaces": older.pk}
    return services.create_request(loop_id=older.loop_id, account=acting(owner), fields=fields)


@pytest.mark.django_db(transaction=True)
def test_one_of_many_replaces_it(make: Make, owner: User) -> None:
    for _ in range(10):
        older = make()
        start = threading.Barrier(RUNNERS, timeout=60)
        made: list[str] = []
        refused: list[str] = []

        def run(older: Request = older, start: threading.Barrier = start) -> None:
            try:
                start.wait()
                made.append(replace(older, owner).pk)  # noqa: B023
            except services.CannotReplace as error:
                refused.append(str(error))  # noqa: B023
            finally:
                connections.close_all()

        threads = [threading.Thread(target=run) for _ in range(RUNNERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        [winner] = made
        sentence = f"the request in replaces was already replaced by {winner}"
        assert Counter(refused) == {sentence: RUNNERS - 1}
        stored = services.read_request(older.pk)
        assert (stored.status, stored.superseded_by_id) == ("cancelled", winner)
        assert LoggedEvent.objects.count() == 1
        LoggedEvent.objects.all().delete()


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_came_first_stays(make: Make, owner: User, member: User) -> None:
    """The create waits for the answer, and links what it has made of the request."""
    older = make()

    def run() -> None:
        replace(older, owner)
        connections.close_all()

    replacing = threading.Thread(target=run)
    with transaction.atomic():
        services.answer_request(request=older, reviewer_id=member.pk, answer="yes")
        replacing.start()
        wait_until(waiting_for_locks)
    replacing.join()
    stored = services.read_request(older.pk)
    newer = Request.objects.get(replaces=older)
    assert (stored.status, stored.response_data) == ("completed", "yes")
    assert stored.superseded_by_id == newer.pk


@pytest.mark.django_db(transaction=True)
def test_a_loop_deleted_meanwhile(make: Make, owner: User, loop: Loop) -> None:
    """Neither waits for the other for ever, and nothing stays open."""
    older = make()
    told: list[type[BaseException]] = []

    def run() -> None:
        try:
            replace(older, owner)
        except services.LoopGone as error:
            told.append(type(error))
        finally:
            connections.close_all()

    replacing = threading.Thread(target=run)
    with transaction.atomic():
        Loop.objects.select_for_update().get(pk=loop.pk)  # how a deletion begins
        replacing.start()
        wait_until(waiting_for_locks)
        services.delete_loop(loop_id=loop.pk, account_id=owner.pk)
    replacing.join()
    assert told == [services.LoopGone]
    assert [each.status for each in Request.objects.all()] == ["cancelled"]


@pytest.mark.django_db
def test_one_whose_time_is_up_times_out_first(make: Make, owner: User) -> None:
    """Its deadline passes between any earlier look and the lock: the lock's clock decides."""
    older = make()
    make_overdue(older)
    newer = replace(older, owner)
    stored = services.read_request(older.pk)
    assert (stored.status, stored.superseded_by_id) == ("timeout", newer.pk)
    assert stored.response_data == FIELDS["default_response"]
    [event] = LoggedEvent.objects.all()
    shown = json.loads(bytes(event.body or b""))["data"]["request"]
    assert (shown["status"], "superseded_by" in shown) == ("timeout", False)


@pytest.mark.django_db(transaction=True)
def test_one_whose_time_is_up_while_others_hold_it(make: Make, owner: User) -> None:
    """Somebody has it locked whenever the create has not, so that no sweep can time it out."""
    older = make()
    make_overdue(older)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        while not done.is_set():
            with transaction.atomic():
                Request.objects.select_for_update(no_key=True).get(pk=older.pk)
                held.set()
                wait_until(lambda: done.is_set() or waiting_for_locks())
        connections.close_all()

    holding = threading.Thread(target=hold)
    holding.start()
    try:
        assert held.wait(30)
        newer = replace(older, owner)
    finally:
        done.set()
        holding.join()
    stored = services.read_request(older.pk)
    assert (stored.status, stored.superseded_by_id) == ("timeout", newer.pk)


@pytest.mark.django_db
def test_a_create_that_fails_cancels_nothing(
    make: Make, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Request, **__: Any) -> None:
        raise services.NoActiveMembers

    older = make()
    monkeypatch.setattr(versions, "insert", fail)
    with pytest.raises(services.NoActiveMembers):
        replace(older, owner)
    assert services.read_request(older.pk).status == "pending"
    assert not LoggedEvent.objects.exists()


@pytest.mark.django_db
def test_a_form_sent_twice_makes_one_version(make: Make, owner: User) -> None:
    older = make()
    sent = {
        "loop_id": older.loop_id,
        "account": acting(owner),
        "fields": {**FIELDS, "replaces": older.pk},
        "request_id": "0" * 21 + owner.pk[-3:],
    }
    services.create_request(**sent)
    with pytest.raises(IntegrityError):
        services.create_request(**sent)
    assert Request.objects.filter(replaces=older).count() == 1


@pytest.mark.django_db
def test_none_replaces_itself(make: Make, owner: User, loop: Loop) -> None:
    """A form knows the id of its request before that is made."""
    own = "0" * 21 + owner.pk[-3:]
    fields = {**FIELDS, "replaces": own}
    with pytest.raises(services.CannotReplace, match="must be a request that your account"):
        services.create_request(
            loop_id=loop.pk, account=acting(owner), fields=fields, request_id=own
        )
    assert not Request.objects.exists()


@pytest.mark.django_db
def test_versions_make_no_circle(make: Make, owner: User) -> None:
    first = make()
    second = replace(first, owner)
    with pytest.raises(services.CannotReplace, match=f"already replaced by {second.pk}"):
        replace(first, owner)
    assert services.read_request(second.pk).status == "pending"
    assert services.read_request(first.pk).replaces_id is None


@pytest.mark.django_db
def test_a_removed_one_leaves_no_link(make: Make, owner: User) -> None:
    first = make()
    second = replace(first, owner)
    third = replace(second, owner)
    transitions.cancel(third.pk, account_id=owner.pk, traceparent=None)
    retention.remove_requests(owner.pk, [(second.pk, 0)])
    assert services.read_request(first.pk).superseded_by_id is None
    assert services.read_request(third.pk).replaces_id is None


@pytest.mark.django_db
def test_removed_together(make: Make, owner: User) -> None:
    first = make()
    second = replace(first, owner)
    retention.remove_requests(owner.pk, [(first.pk, 0), (second.pk, 0)])
    assert not Request.objects.exists()


@pytest.mark.django_db
def test_the_database_lets_nobody_replace_twice(make: Make) -> None:
    first, second, third = make(), make(), make()
    Request.objects.filter(pk=second.pk).update(replaces=first)
    with pytest.raises(IntegrityError, match="request_replaced_once"), transaction.atomic():
        Request.objects.filter(pk=third.pk).update(replaces=first)


@pytest.mark.django_db
def test_the_index_finds_the_next_version(make: Make) -> None:
    """Also when a request is removed, by the plan of the foreign key's own statement."""
    make()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(
            "EXPLAIN UPDATE ONLY reviews_request SET replaces_id = NULL"
            " WHERE '0' OPERATOR(pg_catalog.=) replaces_id"
        )
        plan = "\n".join(row for (row,) in cursor.fetchall())
    assert "request_replaced_once" in plan
