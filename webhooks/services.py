"""What changes the outbox."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from accounts import secret_services
from db.columns import dumps
from db.ids import new_id, owned_id
from db.times import iso
from webhooks import delivery, outbox
from webhooks.event_ids import event_id
from webhooks.models import TEST_EVENT, Attempt, Circuit, Delivery
from webhooks.outbox import Job, Outcome


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a receiver is to be told. `occurrence` is unique to what happened."""

    account_id: str
    url: str
    name: str
    subject_id: str
    occurrence: str
    payload: dict[str, Any]


class NotResendable(Exception):
    """An attempt is under way, or is due anyway."""


class OnlyOnce(Exception):
    """A test event is attempted once."""


def emit(events: Sequence[Event]) -> list[Delivery]:
    """Freezes the bytes of each event in the outbox, in the caller's transaction.

    What happens in SQL is frozen there, by `outbox.EMIT`.
    """
    return Delivery.objects.bulk_create(
        Delivery(
            id=event_id(
                subject_id=event.subject_id,
                occurrence=event.occurrence,
                account_id=event.account_id,
            ),
            account_id=event.account_id,
            event=event.name,
            subject_id=event.subject_id,
            occurrence=event.occurrence,
            url=event.url,
            host=host_of(event.url),
            body=dumps(event.payload).encode(),
        )
        for event in events
    )


def host_of(url: str) -> str:
    """Host and port: what shares a circuit breaker and the few places in flight."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2].lower()[:255]


def resend(*, account_id: str, delivery_id: str) -> None:
    """Has a delivery attempted again at once, with a fresh schedule behind it.

    Raises Delivery.DoesNotExist, NotResendable, OnlyOnce.
    """
    mine = Delivery.objects.of_account(account_id)
    if mine.filter(pk=delivery_id, event=TEST_EVENT).exists():
        raise OnlyOnce
    settled = mine.exclude(state=Delivery.State.WAITING, claim_id__isnull=False)
    if not _make_due(settled.filter(pk=delivery_id)):
        mine.get(pk=delivery_id)
        raise NotResendable


def resend_dead(*, account_id: str, since: datetime) -> int:
    """The same for every dead delivery since a moment, but for test events; returns how many."""
    dead = Delivery.objects.of_account(account_id).filter(state=Delivery.State.DEAD)
    return _make_due(dead.filter(created_at__gte=since).exclude(event=TEST_EVENT))


def pauses(account_id: str) -> dict[str, datetime]:
    """The hosts that are left alone now, because they cannot be reached; each with until when."""
    open_now = Circuit.objects.filter(account_id=account_id, open_until__gt=Now())
    return {each.host: each.open_until for each in open_now if each.open_until}


def _make_due(deliveries: Any) -> int:
    changed: int = deliveries.update(
        state=Delivery.State.WAITING,
        next_attempt_at=Now(),
        failed_attempts=0,
        is_manual=True,
        delivered_at=None,
    )
    return changed


def send_test(*, account_id: str, url: str, now: datetime) -> tuple[Delivery, Outcome]:
    """Posts a test event at once and returns what came back; it is never tried again.

    The delivery and its attempt are in the log like any other. Raises vault.Unreadable.
    """
    secrets = secret_services.read_secrets(account_id)
    job = _begin_test(account_id, url, now)
    outcome = delivery.attempt(url, job.body, message_id=job.delivery_id, secrets=secrets)
    state, _ = delivery.judge(outcome, failed_before=0)
    final = Delivery.State.DEAD if state == Delivery.State.WAITING else state
    outbox.record(job, outcome, state=final)
    return Delivery.objects.of_account(account_id).get(pk=job.delivery_id), outcome


@transaction.atomic
def _begin_test(account_id: str, url: str, now: datetime) -> Job:
    test_id, claim_id = owned_id(account_id), new_id()
    payload = {"event": TEST_EVENT, "timestamp": iso(now), "data": {}}
    (row,) = emit([Event(account_id, url, TEST_EVENT, test_id, f"{test_id}:test", payload)])
    lease = timedelta(seconds=settings.WEBHOOK_LEASE_SECONDS)
    Delivery.objects.of_account(account_id).filter(pk=row.pk).update(
        claim_id=claim_id, is_manual=True, next_attempt_at=Now() + lease
    )
    begun = Attempt.objects.create(account_id=account_id, delivery=row, is_manual=True)
    return Job(row.pk, begun.pk, claim_id, account_id, row.host, url, bytes(row.body), 0)
