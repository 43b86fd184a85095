"""What waits for a person: critical first, then the nearest deadline.

Of each of the person's loops the first rows are read off the index `request_inbox`, and these are
merged, so that a page costs the same however much waits. LIMITs stand in the statements as
numbers: for a parameter the planner expects a tenth of the table.
"""

from django.core.paginator import Paginator
from django.db import connection
from django.db.models import BooleanField
from django.db.models.expressions import RawSQL

from loops.active_members import ACTIVE_MEMBERS
from reviews import counters
from reviews.lifecycle.conditions import OPEN, free_for
from reviews.lifecycle.settling import Scope, read_settled
from reviews.models import Request

# `(user_id, loop_id)` of whoever may review; its parameters are `person`, and `loop`: one of the
# loops, or null for all of them.
MINE = f"""
SELECT m.user_id, m.loop_id FROM {ACTIVE_MEMBERS}
 WHERE m.user_id = %(person)s AND m.loop_id = coalesce(%(loop)s, m.loop_id)"""  # noqa: S608
_ORDER = "priority_rank DESC, timeout_at, id"


def first(count: int, which: str = "TRUE", mine: str = f"({MINE})") -> str:
    """SQL of the first `count` in order, `(id, user_id, …)`, for the parameters of MINE. Without
    a `which` it is read off the index alone."""
    return f"""
SELECT merged.*, user_id
  FROM {mine} AS mine
 CROSS JOIN LATERAL (
       SELECT id, priority_rank, timeout_at FROM reviews_request r
        WHERE loop_id = mine.loop_id AND {OPEN} AND {which}
        ORDER BY {_ORDER} LIMIT {count:d}) AS merged
 ORDER BY {_ORDER} LIMIT {count:d}"""  # noqa: S608 (nothing in it comes from outside)


def scope(user_id: str, loop_id: str | None, mine: str = f"({MINE})") -> Scope:
    """What the person may review, in all of their loops or in one."""
    where = f"r.loop_id IN (SELECT loop_id FROM {mine} AS mine)"  # noqa: S608
    return Scope(where, {"person": user_id, "loop": loop_id})


def answerable_ids(user_id: str, most: int) -> list[str]:
    """What the person could answer now: not what somebody else holds. One statement."""
    asked = scope(user_id, None)
    ids = first(most, free_for("mine.user_id"))

    def read() -> tuple[list[str], bool]:
        with connection.cursor() as cursor:
            found_and_due = f"SELECT ARRAY(SELECT id FROM ({ids}) AS ids), {asked.is_due}"  # noqa: S608
            cursor.execute(found_and_due, asked.params)
            found, is_due = cursor.fetchone()
        return found, is_due

    return read_settled(asked, read)


class Queue:
    """The lines of an inbox that is settled, as a paginator asks for them; one statement for each
    answer."""

    def __init__(self, user_id: str, loop_ids: list[str], chosen: str | None) -> None:
        self.asked = (user_id, chosen)
        self.loop_ids = [chosen] if chosen else loop_ids

    def count(self) -> int:
        return sum(counters.count_open_by_loop(self.loop_ids).values())

    def __getitem__(self, wanted: slice) -> list[Request]:
        if wanted.start == wanted.stop:
            return []
        ids = f"SELECT id FROM ({first(wanted.stop)}) AS upto OFFSET {wanted.start:d}"  # noqa: S608
        # an array, because the planner may run a sub-select again for each row
        here = f"reviews_request.id = ANY (ARRAY({ids}))"
        here %= {"person": "%s", "loop": "%s"}  # in this order, as Django has it
        found = Request.objects.filter(RawSQL(here, self.asked, output_field=BooleanField()))  # noqa: S611
        return list(found.for_inbox().order_by("-priority_rank", "timeout_at", "id"))


def pages(
    user_id: str, loop_ids: list[str], chosen: str | None, *, per_page: int
) -> "Paginator[Request]":
    """The inbox of somebody who is in these loops, or what waits in the chosen one."""
    return Paginator(Queue(user_id, loop_ids, chosen), per_page)  # type: ignore[arg-type]
