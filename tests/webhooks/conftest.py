"""Deliveries in the outbox, and a dispatcher that delivers them for real."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Protocol

import pytest
from django.db import connections
from django.db.models.functions import Now

from accounts.models import User
from db.ids import new_id
from tests.webhooks.receivers import Receiver, receiving
from webhooks import outbox
from webhooks.dispatch import Dispatcher, attempt_and_record
from webhooks.fair_queue import RESERVE
from webhooks.models import Circuit, Delivery
from webhooks.services import Event, enqueue

THREADS = 8


class Emit(Protocol):
    def __call__(self, url: str, account: User | None = None, count: int = 1) -> list[Delivery]: ...


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as one:
        yield one


@pytest.fixture
def dispatcher() -> Iterator[Dispatcher]:
    """Its threads close their database connections in the end."""
    one = Dispatcher(THREADS)
    yield one
    one.stop()
    everyone = threading.Barrier(THREADS + RESERVE)

    def leave() -> None:
        everyone.wait(10)
        connections.close_all()

    for leaving in [one._pool.submit(leave) for _ in range(THREADS + RESERVE)]:
        leaving.result(20)
    one._pool.shutdown()


@pytest.fixture
def emit_to(owner: User) -> Emit:
    """`emit_to(url)` is the delivery of a fresh event to it, due at once."""

    def emit_fresh(url: str, account: User | None = None, count: int = 1) -> list[Delivery]:
        holder = account or owner
        subjects = [new_id() for _ in range(count)]
        enqueue([event_of(holder, url, subject) for subject in subjects])
        return list(Delivery.objects.filter(subject_id__in=subjects).order_by("subject_id"))

    return emit_fresh


def event_of(account: User, url: str, subject: str) -> Event:
    payload = {"event": "request.completed", "request_id": subject, "response_data": "Größe ✓"}
    return Event(
        account_id=account.pk,
        url=url,
        name="request.completed",
        subject_id=subject,
        occurrence=f"{subject}:end",
        payload=payload,
    )


def fresh(delivery: Delivery) -> Delivery:
    """The delivery as it stands now."""
    found: Delivery = Delivery.objects.get(pk=delivery.pk)
    return found


def make_due(*deliveries: Delivery, **changes: Any) -> None:
    """Moves the next attempt into the past, as if the time had gone by."""
    keys = [delivery.pk for delivery in deliveries]
    past = Now() - timedelta(seconds=1)
    Delivery.objects.filter(pk__in=keys).update(next_attempt_at=past, **changes)


def seconds_to_next(delivery: Delivery) -> float:
    """From the end of the last attempt to the beginning of the next, as planned."""
    last = delivery.attempts.latest("started_at")
    assert last.finished_at is not None
    return (fresh(delivery).next_attempt_at - last.finished_at).total_seconds()


def end_pause() -> None:
    """Moves the end of every open circuit's pause into the past."""
    past = Now() - timedelta(seconds=1)
    Circuit.objects.filter(open_until__isnull=False).update(open_until=past)


def deliver_here() -> int:
    """Attempts what is due, on this thread and in its transaction; returns how many."""
    items = outbox.claim_due(50)
    for item in items:
        attempt_and_record(item, threading.Event())
    return len(items)
