"""The log of deliveries in windows, by keys and not by counting."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, OuterRef, Subquery
from django.db.models.functions import Coalesce, Now

from webhooks.models import Attempt, Delivery, DeliveryQuerySet

PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class Window:
    """The deliveries of one page, newest first; `older` is the id to go on behind."""

    rows: list[Any]
    is_first: bool = True
    older: str | None = None


def read_window(
    deliveries: DeliveryQuerySet, *, chosen: dict[str, str], behind: Delivery | None
) -> Window:
    """The newest deliveries behind a given one, of the chosen `state` and `event`.

    Each has `attempts_made`, and the database's `now`.
    """
    found = deliveries.in_state(chosen["state"]) if chosen["state"] else deliveries
    found = found.filter(event=chosen["event"]) if chosen["event"] else found
    if behind is not None:
        found = found.filter(created_at__lte=behind.created_at).exclude(
            created_at=behind.created_at, id__gte=behind.pk
        )
    made = Attempt.objects.filter(delivery=OuterRef("pk")).order_by().values("delivery")
    count = Subquery(made.annotate(count=Count("pk")).values("count"))
    shown = found.newest_first().defer("body").annotate(attempts_made=Coalesce(count, 0), now=Now())
    rows = list(shown[: PER_PAGE + 1])
    older = rows[PER_PAGE - 1].pk if len(rows) > PER_PAGE else None
    return Window(rows[:PER_PAGE], is_first=behind is None, older=older)


def with_duration(attempts: Any) -> Any:
    """Attempts with how long each took, from row to row; None where it has no end."""
    return attempts.annotate(duration=F("finished_at") - F("started_at"))
