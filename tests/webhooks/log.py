"""A log of deliveries that the tests fill."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from accounts.models import User
from db.ids import new_id
from webhooks.emission import Event, enqueue
from webhooks.models import Attempt, Delivery

LOG = "/dashboard/deliveries/"
URL = "https://receiver.example/hook"
NOW = datetime.now(UTC)


def made(account: User, name: str = "request.completed", **changes: Any) -> Delivery:
    """A delivery in the log, changed into what the test needs."""
    subject = new_id()
    event = Event(account.pk, URL, name, subject, f"{subject}:end", {"event": name})
    enqueue([event])
    if changes.get("state") == "delivered":
        changes.setdefault("delivered_at", NOW)
    Delivery.objects.filter(pk=event.id).update(**changes)
    return Delivery.objects.get(pk=event.id)


def attempted(delivery: Delivery, **changes: Any) -> Attempt:
    """An attempt that took a second and a quarter."""
    begun = changes.pop("started_at", NOW)
    ended = {"started_at": begun, "finished_at": begun + timedelta(seconds=1.25), **changes}
    return Attempt.objects.create(account_id=delivery.account_id, delivery=delivery, **ended)


def pks(deliveries: Iterable[Delivery]) -> list[str]:
    return [delivery.pk for delivery in deliveries]
