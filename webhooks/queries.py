"""The log of deliveries, page by page."""

from typing import Any

from django.db.models import Count, F, OuterRef, Subquery
from django.db.models.functions import Coalesce, Now

from web.keyset import KeysetPage, read_page
from webhooks.models import Attempt, DeliveryQuerySet

PER_PAGE = 50


def read_log(
    deliveries: DeliveryQuerySet, *, chosen: dict[str, str], cursor: str | None
) -> KeysetPage:
    """A page of an account's deliveries of the chosen `state` and `event`, '' for all.

    Each has `attempts_made`, and the database's `now`.
    """
    found = deliveries.in_state(chosen["state"]) if chosen["state"] else deliveries
    found = found.filter(event=chosen["event"]) if chosen["event"] else found
    mine = Attempt.objects.filter(delivery=OuterRef("pk"), account=OuterRef("account"))
    made = mine.order_by().values("delivery")
    count = Subquery(made.annotate(count=Count("pk")).values("count"))
    rows = found.defer("body").annotate(attempts_made=Coalesce(count, 0), now=Now())
    return read_page(rows, cursor=cursor, among=deliveries, size=PER_PAGE)


def with_duration(attempts: Any) -> Any:
    """Attempts with how long each took, from row to row; None where it has no end."""
    return attempts.annotate(duration=F("finished_at") - F("started_at"))
