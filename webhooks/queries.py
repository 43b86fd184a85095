"""The log of deliveries, page by page."""

from typing import Any

from django.db import connection
from django.db.models import Count, F, OuterRef, Subquery
from django.db.models.functions import Coalesce, Left, Now

from web.keyset import KeysetPage, Place, read_page
from webhooks.models import Attempt, DeliveryQuerySet

PER_PAGE = 50
MAX_ERROR = 200  # characters of an error that are read for a row
MAX_HOSTS = 50  # offered to choose from
FAILING = "failing"  # waiting, and the last attempt failed; not a stored state

# From host to host by index, however many deliveries each has.
_HOSTS = f"""
WITH RECURSIVE known AS (
    (SELECT host, 1 AS place FROM webhooks_delivery WHERE account_id = %(account)s
      ORDER BY host LIMIT 1)
    UNION ALL
    SELECT following.host, known.place + 1 FROM known CROSS JOIN LATERAL (
        SELECT host FROM webhooks_delivery
         WHERE account_id = %(account)s AND host > known.host
         ORDER BY host LIMIT 1) following
     WHERE known.place < {MAX_HOSTS}
)
SELECT host FROM known ORDER BY host
"""  # noqa: S608 (nothing in it comes from outside)


def read_log(
    deliveries: DeliveryQuerySet, *, chosen: dict[str, str], after: Place | None
) -> KeysetPage:
    """A page of an account's deliveries of the chosen `state`, `event` and `host`, '' for all.

    Each has `attempts_made`, `last_status` and `last_error` of its last attempt that has ended, and
    the database's `now`.
    """
    mine = Attempt.objects.filter(delivery=OuterRef("pk"), account=OuterRef("account"))
    made = mine.order_by().values("delivery")
    ended = mine.filter(finished_at__isnull=False).order_by("-started_at", "-id")
    rows = filter_log(deliveries, chosen).defer("body")
    rows = rows.annotate(
        attempts_made=Coalesce(Subquery(made.annotate(count=Count("pk")).values("count")), 0),
        last_status=Subquery(ended.values("status_code")[:1]),
        last_error=Subquery(ended.values(text=Left("error", MAX_ERROR))[:1]),
        now=Now(),
    )
    return read_page(rows, after=after, size=PER_PAGE)


def filter_log(deliveries: DeliveryQuerySet, chosen: dict[str, str]) -> DeliveryQuerySet:
    """Keeps the deliveries of the chosen state, event and host."""
    if chosen["state"] == FAILING:
        deliveries = deliveries.failing()
    elif chosen["state"]:
        deliveries = deliveries.in_state(chosen["state"])
    if chosen["event"]:
        deliveries = deliveries.filter(event=chosen["event"])
    return deliveries.filter(host=chosen["host"]) if chosen["host"] else deliveries


def read_hosts(account_id: str) -> list[str]:
    """The first MAX_HOSTS hosts that the account's deliveries went to, by name."""
    with connection.cursor() as cursor:
        cursor.execute(_HOSTS, {"account": account_id})
        return [host for (host,) in cursor.fetchall()]


def with_duration(attempts: Any) -> Any:
    """Attempts with how long each took, from row to row; None where it has no end."""
    return attempts.annotate(duration=F("finished_at") - F("started_at"))
