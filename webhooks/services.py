"""What changes the outbox."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from config.model_fields import dumps
from webhooks.models import Delivery


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a receiver is to be told. `occurrence` is unique to what happened."""

    account_id: str
    url: str
    name: str
    subject_id: str
    occurrence: str
    payload: dict[str, Any]


def emit(events: Sequence[Event]) -> None:
    """Freezes the bytes of each event in the outbox, in the caller's transaction."""
    Delivery.objects.bulk_create(
        Delivery(
            account_id=event.account_id,
            event=event.name,
            subject_id=event.subject_id,
            occurrence=event.occurrence,
            url=event.url,
            body=dumps(event.payload).encode(),
        )
        for event in events
    )
