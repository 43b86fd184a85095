"""Deadlines that pass while a row is locked: no reader sees two different ends."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, connections, transaction
from django.db.models.functions import Now

from accounts.models import User
from dashboard import request_list, stats
from loops.models import Loop
from portal import polling
from reviews import counters, services, tasks
from reviews.lifecycle import settling, transitions
from reviews.models import Request
from reviews.queries import listing, open_questions, single_read
from reviews.representation import encode
from tests.backends import waiting_for_locks
from tests.reviews.conftest import Make, make_overdue
from tests.waiting import stretched, wait_until
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db(transaction=True)

CALLBACK = {"callback_url": "http://127.0.0.1:9/hook"}


@contextmanager
def another_connection() -> Iterator[psycopg.Connection]:
    """To the same database, in a transaction of its own."""
    with psycopg.connect(**connection.get_connection_params()) as other:
        yield other


@contextmanager
def held(request: Request) -> Iterator[None]:
    """Somebody holds the row while its deadline passes."""
    soon = timedelta(seconds=stretched(0.3))
    Request.objects.filter(pk=request.pk).update(timeout_at=Now() + soon)
    with another_connection() as other:
        other.execute("SELECT FROM reviews_request WHERE id = %s FOR UPDATE", [request.pk])
        yield
        other.rollback()


def is_late(request: Request) -> bool:
    return Request.objects.filter(pk=request.pk, timeout_at__lte=Now()).exists()


def inbox_version(person_id: str) -> str:
    return polling.read_inbox_version(person_id, None).fingerprint


def views(loop: Loop, reviewer: User, request: Request) -> dict[str, Any]:
    """What every kind of reader says of the only request that there is."""
    account, window = loop.creator_id, listing.ListParams(None, None, "status_asc", 5, 0)
    shown: dict[str, Any] = {
        "single": encode(single_read.read(request.pk, user_id=account)).decode(),
        "page": services.read_request(request.pk).status,
        "question": polling.read_version(request.pk, reviewer.pk),
        "inbox": inbox_version(reviewer.pk) != inbox_version("0" * 24),
        "queue": open_questions.read_waiting(reviewer.pk, 5).ids,
        "open": counters.count_open_by_loop([loop.pk]).get(loop.pk),
        "waiting": sum(each.count for each in stats.read_waiting(account)),
        "timeouts": sum(day.timeouts for day in stats.read_days(account)[0]),
    }
    for scope in (listing.scope_to_account(account), listing.scope_to_loop(loop.pk)):
        for status in ("pending", "timeout"):
            filtered = listing.ListParams(status, None, listing.DEFAULT_ORDER, 5, 0)
            found = listing.fetch(scope, filtered)
            shown[f"{scope.column} {status}"] = (found.total, len(found.ids))
        shown[scope.column] = encode(listing.fetch(scope, window).entries).decode()
    chosen = request_list.Filters(account_id=account, q="refund", status="pending")
    shown["search"] = [row.status for row in request_list.read_older(chosen, None).rows]
    return shown


def test_what_somebody_holds_shows_as_it_is_stored(make: Make, loop: Loop, member: User) -> None:
    request = make(**CALLBACK)
    in_time = views(loop, member, request)
    with held(request):
        wait_until(lambda: is_late(request))
        assert tasks.settle_overdue() == 0
        assert blurred(views(loop, member, request)) == blurred(in_time)
        assert not Delivery.objects.exists()
    released = views(loop, member, request)
    assert '"status":"timeout"' in released["single"]
    ended = {name: value for name, value in released.items() if name not in ("single", *LISTS)}
    assert ended == {
        "page": "timeout", "question": "timeout", "inbox": False, "queue": [], "open": 0,
        "waiting": 0, "timeouts": 1, "creator_id pending": (0, 0), "creator_id timeout": (1, 1),
        "loop_id pending": (0, 0), "loop_id timeout": (1, 1), "search": [],
    }  # fmt: skip
    assert Delivery.objects.filter(event="request.timeout").count() == 1


LISTS = ("creator_id", "loop_id")


def blurred(shown: dict[str, Any]) -> dict[str, Any]:
    """Without the JSON, in which the deadline is another one; but with the status in it."""
    return {
        name: '"status":"pending"' in str(value) if name in ("single", *LISTS) else value
        for name, value in shown.items()
    }


MOVES: dict[str, Callable[[Request, User], object]] = {
    "answer": lambda request, person: services.answer_request(
        request=request, reviewer_id=person.pk, answer="yes"
    ),
    "claim": lambda request, person: services.claim_request(request=request, reviewer_id=person.pk),
    "cancel": lambda request, person: services.cancel_request(
        request_id=request.pk, account_id=request.creator_id
    ),
}


@pytest.mark.parametrize("name", MOVES)
def test_who_waited_for_the_row_past_the_deadline_is_too_late(
    make: Make, member: User, name: str
) -> None:
    request = make(**CALLBACK)
    told: list[object] = []

    def move() -> None:
        try:
            told.append(MOVES[name](request, member))
        except services.TransitionLost as lost:
            told.append(lost.request.status)
        finally:
            connections.close_all()

    other = threading.Thread(target=move)
    with held(request):
        other.start()
        wait_until(waiting_for_locks)
        assert not is_late(request)
        wait_until(lambda: is_late(request))
    other.join()
    assert told == ["timeout"]
    assert [each.event for each in Delivery.objects.all()] == ["request.timeout"]


def test_a_reader_waits_for_another_who_is_settling(
    make: Make, loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the other holds is no transition in time: it must not show as pending."""
    monkeypatch.setattr(settling, "LOCK_TIMEOUT", 60_000)
    request = make()
    make_overdue(request)
    seen: list[int] = []

    def read() -> None:
        window = listing.ListParams("pending", None, listing.DEFAULT_ORDER, 5, 0)
        seen.append(listing.fetch(listing.scope_to_loop(loop.pk), window).total)
        connections.close_all()

    reader = threading.Thread(target=read)
    with transaction.atomic():
        settling.settle(settling.scope_to_request(request.pk))
        reader.start()
        wait_until(waiting_for_locks)
    reader.join()
    assert seen == [0]


def test_but_not_for_ever(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "LOCK_TIMEOUT", 20)
    request = make()
    make_overdue(request)
    with another_connection() as other:
        other.execute("SELECT FROM reviews_request WHERE id = %s FOR UPDATE", [request.pk])
        other.execute("SELECT pg_advisory_xact_lock_shared(%s)", [transitions.SETTLERS])
        assert services.read_request(request.pk).status == "pending"


@transaction.atomic
def settle_and_die(account_id: str) -> None:
    """Ends the connection's own server process before it has committed."""
    settling.settle(settling.scope_to_account(account_id))
    assert Request.objects.filter(status="timeout").count() == 5
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")


def test_a_reader_that_dies_while_settling_leaves_nothing_half_done(
    make: Make, owner: User
) -> None:
    """Its server process is ended in the middle of a batch: all of it is due still, and whoever
    comes next settles it, once."""
    requests = [make(**CALLBACK) for _ in range(5)]
    for request in requests:
        make_overdue(request)
    with pytest.raises(OperationalError, match="terminating"):
        settle_and_die(owner.pk)
    connection.close()
    assert not Request.objects.filter(status="timeout").exists()
    window = listing.ListParams("timeout", None, listing.DEFAULT_ORDER, 9, 0)
    assert listing.fetch(listing.scope_to_account(owner.pk), window).total == 5
    assert Delivery.objects.filter(event="request.timeout").count() == 5
    assert counters.find_differences() == []


def test_losers_undo_what_they_did(make: Make, member: User, owner: User) -> None:
    """What is told of a lost request is committed: the settling is behind the transaction."""
    request = make(**CALLBACK)
    make_overdue(request)
    with pytest.raises(services.TransitionLost) as lost:
        services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    assert lost.value.request.status == "timeout"
    with another_connection() as other:
        row = other.execute("SELECT status FROM reviews_request WHERE id = %s", [request.pk])
        assert row.fetchone() == ("timeout",)
