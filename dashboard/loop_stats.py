"""Loops and their members with figures about them, by index and bounded."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import Count, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Greatest

from loops.models import Loop, LoopQuerySet, Membership
from reviews import counters
from reviews.models import Request
from web.humanize import duration

LOOPS_PER_PAGE = 25
MEMBERS_PER_PAGE = 20
SPAN = timedelta(days=90)
MOST_ANSWERS = 2_000  # of those, the newest


@dataclass(frozen=True, slots=True)
class Window:
    """One page of a listing, newest first; `older` is the id to go on behind."""

    rows: list[Any]
    is_first: bool = True
    older: str | None = None


def cut(rows: Sequence[Any], length: int, *, is_first: bool) -> Window:
    """A window out of one row more than it holds."""
    older = rows[length - 1].pk if len(rows) > length else None
    return Window(list(rows[:length]), is_first=is_first, older=older)


def read_loops(account_id: str, *, behind: str | None) -> Window:
    """The account's loops behind the one with that id. Each has `active`, `pending`, `waiting`
    (open requests) and `active_at`."""
    found = Loop.objects.of_creator(account_id)
    if behind is not None:
        edge = Loop.objects.filter(pk=behind, creator_id=account_id).values("created_at")
        at = Subquery(edge[:1])
        found = found.filter(Q(created_at__lt=at) | Q(created_at=at, id__lt=behind))
    rows = list(with_figures(found).newest_first()[: LOOPS_PER_PAGE + 1])
    waiting = counters.open_by_loop([loop.pk for loop in rows])
    for loop in rows:
        loop.waiting = waiting.get(loop.pk, 0)  # type: ignore[attr-defined]
    return cut(rows, LOOPS_PER_PAGE, is_first=behind is None)


def with_figures(loops: LoopQuerySet) -> LoopQuerySet:
    members = Membership.objects.filter(loop=OuterRef("pk")).order_by().values("loop")
    requests = Request.objects.filter(loop=OuterRef("pk"))
    last = requests.order_by("-created_at", "-id").values("created_at")[:1]
    columns: dict[str, Any] = {
        "active": _count(members.filter(status=Membership.Status.ACTIVE)),
        "pending": _count(members.filter(status=Membership.Status.PENDING)),
        "active_at": Greatest(F("updated_at"), Subquery(last)),
    }
    return loops.annotate(**columns)


def _count(rows: QuerySet[Any, Any]) -> Coalesce:
    counted = Subquery(rows.annotate(n=Count("pk")).values("n"), output_field=IntegerField())
    return Coalesce(counted, 0)


@dataclass(frozen=True, slots=True)
class Record:
    """What a member has done lately. Seconds, and stars from 1 to 5."""

    answered: int
    median_seconds: float | None
    mean_rating: float | None

    @property
    def median(self) -> str:
        return "–" if self.median_seconds is None else duration(self.median_seconds)


NOTHING = Record(0, None, None)

_RECORDS = f"""
SELECT r.response_by_id, count(*),
       extract(epoch FROM percentile_cont(0.5) WITHIN GROUP (ORDER BY r.took))::double precision,
       avg((f.body->>'rating')::double precision)
  FROM (SELECT id, response_by_id, response_at - created_at AS took
          FROM reviews_request
         WHERE loop_id = %(loop)s AND status = 'completed'
           AND created_at > statement_timestamp() - %(span)s
         ORDER BY created_at DESC, id DESC LIMIT {MOST_ANSWERS:d}) r
  LEFT JOIN reviews_feedback f ON f.request_id = r.id
 GROUP BY r.response_by_id
"""  # noqa: S608 (a number of ours)


def read_records(loop: Loop) -> dict[str, Record]:
    """By user id, over the newest answers of the last 90 days."""
    params: dict[str, Any] = {"loop": loop.pk, "span": SPAN}
    with connection.cursor() as cursor:
        cursor.execute(_RECORDS, params)
        return {user: Record(*figures) for user, *figures in cursor.fetchall()}


@dataclass(frozen=True, slots=True)
class Headcount:
    active: int
    pending: int
    waiting: int

    @property
    def members(self) -> int:
        return self.active + self.pending


def count_heads(loop: Loop) -> Headcount:
    """The members of a loop and its open requests."""
    counted: Any = with_figures(Loop.objects.filter(pk=loop.pk)).get()
    waiting = counters.open_by_loop([loop.pk]).get(loop.pk, 0)
    return Headcount(counted.active, counted.pending, waiting)
