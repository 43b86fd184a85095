"""Deliveries in the outbox, and a dispatcher that delivers them for real."""

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, Protocol

import pytest
from django.db.models.functions import Now

from accounts.models import User
from db.ids import new_id
from outbox import recording
from outbox.claiming import FIRST, Claim, Lane
from outbox.claiming import claim as claim_rows
from outbox.dispatcher import Dispatcher
from outbox.items import Bounds, Item, Outcome, Result
from tests.webhooks.receivers import Receiver, receiving
from webhooks.channel import TEST, WEBHOOK, Webhook
from webhooks.emission import Event, enqueue
from webhooks.models import Circuit, Delivery
from webhooks.posting import Exchange, Post, result_of

THREADS = 8


def bounds(limit: int, **changes: Any) -> Bounds:
    return Bounds(**dict.fromkeys(("limit", "share", "lane_share", "suspects"), limit) | changes)


def claim_from(start: Lane, limit: int, **changes: Any) -> Claim[Post]:
    """A claim of webhooks as another process makes it, which begins at a lane."""
    return claim_rows(WEBHOOK, bounds(limit, **changes), start=start)


def claim(limit: int, *, channel: Webhook = WEBHOOK, **changes: Any) -> list[Item[Post]]:
    """What a claim gets; `changes` are of its bounds."""
    return claim_rows(channel, bounds(limit, **changes), start=FIRST).items


def end(item: Item[Post], outcome: Outcome) -> Result | None:
    return recording.record(channel_of(item), item, outcome)


def give_back(item: Item[Post]) -> None:
    recording.give_back(channel_of(item), [item])


def channel_of(item: Item[Post]) -> Webhook:
    return WEBHOOK if item.lane else TEST


def attempt_and_record(item: Item[Post]) -> None:
    """Sends and records a claimed delivery on this thread."""
    one = Dispatcher(channel_of(item))
    later = time.monotonic() + one.channel.lease
    one._send(replace(item, lease_ends=later))


def answered(status: int, **changes: Any) -> Outcome:
    """The outcome of an attempt that got a response."""
    return Outcome(result_of(status), details=Exchange(status=status), **changes)


def no_answer(error: str = "Connection refused") -> Outcome:
    return Outcome(Result.RETRY, error, is_unreachable=True)


class Emit(Protocol):
    def __call__(self, url: str, account: User | None = None, count: int = 1) -> list[Delivery]: ...


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as one:
        yield one


@pytest.fixture
def dispatcher() -> Iterator[Dispatcher[Post]]:
    """Its threads close their database connections in the end."""
    one = Dispatcher(WEBHOOK, threads=THREADS)
    yield one
    one.stop()
    one.close()


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
    items = [*claim(50), *claim(50, channel=TEST)]
    for item in items:
        attempt_and_record(item)
    return len(items)
