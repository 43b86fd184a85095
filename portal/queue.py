"""The open requests of a reviewer: critical first, then the nearest deadline.

The first rows of each of the person's loops are read from the index `request_inbox` and merged, so
that the cost of a page does not grow with the queue. LIMITs are written into the SQL as numbers:
for a parameter the planner expects a tenth of the table.
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

# `(user_id, loop_id)` of the person's active memberships. Parameters: `person`, and `loop`: the id
# of one loop, or null for all.
MINE = f"""
SELECT m.user_id, m.loop_id FROM {ACTIVE_MEMBERS}
 WHERE m.user_id = %(person)s AND m.loop_id = coalesce(%(loop)s, m.loop_id)"""  # noqa: S608
_ORDER = "priority_rank DESC, timeout_at, id"


def build_first_sql(count: int, which: str = "TRUE", mine: str = f"({MINE})") -> str:
    """Builds the SQL of the first `count` requests, `(id, user_id, …)`, with the parameters of
    MINE. Without `which` it reads the index only."""
    return f"""
SELECT merged.*, user_id
  FROM {mine} AS mine
 CROSS JOIN LATERAL (
       SELECT id, priority_rank, timeout_at FROM reviews_request r
        WHERE loop_id = mine.loop_id AND {OPEN} AND {which}
        ORDER BY {_ORDER} LIMIT {count:d}) AS merged
 ORDER BY {_ORDER} LIMIT {count:d}"""  # noqa: S608 (nothing in it comes from outside)


def build_scope(user_id: str, loop_id: str | None, mine: str = f"({MINE})") -> Scope:
    """Builds the scope of what the person may review, in all of their loops or in one."""
    where = f"r.loop_id IN (SELECT loop_id FROM {mine} AS mine)"  # noqa: S608
    return Scope(where, {"person": user_id, "loop": loop_id})


def read_answerable_ids(user_id: str, limit: int) -> list[str]:
    """Returns the ids of open requests not claimed by somebody else, in one statement."""
    person_scope = build_scope(user_id, None)
    ids = build_first_sql(limit, free_for("mine.user_id"))

    def read() -> tuple[list[str], bool]:
        with connection.cursor() as cursor:
            statement = f"SELECT ARRAY(SELECT id FROM ({ids}) AS ids), {person_scope.is_due}"  # noqa: S608
            cursor.execute(statement, person_scope.params)
            waiting_ids, is_due = cursor.fetchone()
        return waiting_ids, is_due

    return read_settled(person_scope, read)


class Queue:
    """The rows of an inbox for a paginator. Each call takes one statement; settle what is due
    before."""

    def __init__(self, user_id: str, loop_ids: list[str], chosen: str | None) -> None:
        self.params = (user_id, chosen)
        self.loop_ids = [chosen] if chosen else loop_ids

    def count(self) -> int:
        return sum(counters.count_open_by_loop(self.loop_ids).values())

    def __getitem__(self, wanted: slice) -> list[Request]:
        if wanted.start == wanted.stop:
            return []
        ids = f"SELECT id FROM ({build_first_sql(wanted.stop)}) AS upto OFFSET {wanted.start:d}"  # noqa: S608
        # an array, because the planner may run a subquery once for each row
        condition = f"reviews_request.id = ANY (ARRAY({ids}))"
        condition %= {"person": "%s", "loop": "%s"}  # Django's placeholders, in this order
        is_here = RawSQL(condition, self.params, output_field=BooleanField())  # noqa: S611
        return list(
            Request.objects.filter(is_here)
            .for_inbox()
            .order_by("-priority_rank", "timeout_at", "id")
        )


def build_paginator(
    user_id: str, loop_ids: list[str], chosen: str | None, *, per_page: int
) -> "Paginator[Request]":
    """Builds the pages of the inbox of all these loops, or of the chosen one."""
    return Paginator(Queue(user_id, loop_ids, chosen), per_page)  # type: ignore[arg-type]
