"""Statistics about loops and their members, read by index and limited in number."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import Count, F, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Greatest

from loops.models import Loop, LoopQuerySet, Membership
from reviews import counters
from reviews.lifecycle.conditions import FINAL
from reviews.models import Request
from web.humanize import format_duration
from web.keyset import KeysetPage, Place, read_page

LOOPS_PER_PAGE = 25
MEMBERS_PER_PAGE = 20
SPAN = timedelta(days=90)
MAX_ANSWERS = 2_000  # only the newest are counted


def read_loops(account_id: str, *, after: Place | None) -> KeysetPage:
    """Returns a page of the account's loops. Each has `active`, `pending`, `waiting` (open
    requests) and `active_at`."""
    page = read_page(
        annotate_stats(Loop.objects.of_creator(account_id)),
        after=after,
        size=LOOPS_PER_PAGE,
    )
    waiting = counters.count_open_by_loop([loop.pk for loop in page.rows])
    for loop in page.rows:
        loop.waiting = waiting.get(loop.pk, 0)
    return page


def annotate_stats(loops: LoopQuerySet) -> LoopQuerySet:
    members = Membership.objects.filter(loop=OuterRef("pk")).order_by().values("loop")
    requests = Request.objects.filter(loop=OuterRef("pk"))
    last = requests.order_by("-created_at", "-id").values("created_at")[:1]
    columns: dict[str, Any] = {
        "active": _count(members.filter(status=Membership.Status.ACTIVE)),
        "pending": _count(members.filter(status=Membership.Status.PENDING)),
        "active_at": Greatest(F("updated_at"), Subquery(last)),
    }
    return loops.annotate(**columns)


def count_own(account_id: str) -> tuple[int, int]:
    """Counts the account's loops, and its requests from the counters."""
    with connection.cursor() as cursor:
        cursor.execute(_OWN, {"account": account_id})
        loops, requests = cursor.fetchone()
    return loops, requests


def _count(rows: QuerySet[Any, Any]) -> Coalesce:
    counted = Subquery(rows.annotate(n=Count("pk")).values("n"), output_field=IntegerField())
    return Coalesce(counted, 0)


@dataclass(frozen=True, slots=True)
class Record:
    """A member's recent answers: their number, median time in seconds, mean rating from 1 to 5."""

    answered: int
    median_seconds: float | None
    mean_rating: float | None

    @property
    def median(self) -> str:
        return "–" if self.median_seconds is None else format_duration(self.median_seconds)


NO_RECORD = Record(0, None, None)

_OWN = f"""
SELECT (SELECT count(*) FROM loops_loop
         WHERE creator_id = %(account)s AND deleted_at IS NULL),
       (SELECT coalesce(sum(n), 0)::bigint
          FROM ({counters.build_counts_sql("creator_id", "%(account)s")}) AS number)
"""  # noqa: S608 (nothing in it comes from outside)

_RECORDS = f"""
SELECT a.person_id, count(*),
       extract(epoch FROM percentile_cont(0.5) WITHIN GROUP (ORDER BY a.took))::double precision,
       avg((f.body->>'rating')::double precision)
  FROM (SELECT request_id, person_id, answered_at - asked_at AS took
          FROM reviews_answer
         WHERE loop_id = %(loop)s AND asked_at > statement_timestamp() - %(span)s
           AND EXISTS (  -- nobody learns who has answered what several people still answer
               SELECT FROM reviews_request r
                WHERE r.id = request_id AND (r.policy IS NULL OR {FINAL}))
         ORDER BY asked_at DESC, id DESC LIMIT {MAX_ANSWERS:d}) a
  LEFT JOIN reviews_feedback f ON f.request_id = a.request_id
 GROUP BY a.person_id
"""  # noqa: S608 (a number of ours)


def read_records(loop: Loop) -> dict[str, Record]:
    """Returns records by user id, over the newest answers of the last 90 days."""
    params: dict[str, Any] = {"loop": loop.pk, "span": SPAN}
    with connection.cursor() as cursor:
        cursor.execute(_RECORDS, params)
        return {user: Record(*values) for user, *values in cursor.fetchall()}


@dataclass(frozen=True, slots=True)
class Headcount:
    active: int
    pending: int
    waiting: int

    @property
    def members(self) -> int:
        return self.active + self.pending


def count_heads(loop: Loop) -> Headcount:
    """Counts the members of a loop and its open requests."""
    counted: Any = annotate_stats(Loop.objects.filter(pk=loop.pk, creator_id=loop.creator_id)).get()
    waiting = counters.count_open_by_loop([loop.pk]).get(loop.pk, 0)
    return Headcount(counted.active, counted.pending, waiting)
