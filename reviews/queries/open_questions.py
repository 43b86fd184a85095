"""Reads the questions that wait for a reviewer: the rows of the inbox, and the next questions."""

from dataclasses import dataclass
from functools import cached_property

from django.core.paginator import Paginator
from django.db import connection
from django.db.models import BooleanField
from django.db.models.expressions import RawSQL

from reviews import counters
from reviews.lifecycle import states
from reviews.lifecycle.conditions import free_for
from reviews.lifecycle.settling import read_settled
from reviews.models import Request
from reviews.queries import filtered_questions
from reviews.queries.queue import MINE, ORDER, build_first_sql, build_hidden_sql, build_scope
from reviews.queries.queue_filter import QueueFilter

EVERYTHING = QueueFilter()

# How many requests with these statuses are open for the person.
_COUNT = f"""
SELECT (SELECT coalesce(sum(n), 0)::bigint FROM mine CROSS JOIN LATERAL (
               {counters.build_counts_sql("loop_id", "mine.loop_id")}) AS counted
         WHERE counted.status = ANY (%(statuses)s))
     - (SELECT count(*) FROM ({build_hidden_sql("mine")}) AS hidden
         WHERE hidden.status = ANY (%(statuses)s))"""  # noqa: S608
# The claimed requests of the person: few, and in an index of their own.
_HELD = """
SELECT r.id, r.priority_rank, r.timeout_at FROM reviews_request r
 WHERE r.status = 'claimed' AND r.claimed_by_id = %(person)s
   AND r.loop_id = ANY (ARRAY(SELECT loop_id FROM mine))"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The questions that a person can answer: the first ids by urgency, and their number.

    `is_partial`: the filter leaves out less urgent requests, so `total` counts only a part.
    """

    ids: list[str]
    total: int
    is_partial: bool = False


def read_waiting(user_id: str, limit: int, chosen: QueueFilter = EVERYTHING) -> Waiting:
    """Reads the open requests not claimed by somebody else, and up to `limit` of their ids.

    One statement; up to two for a filter by type or words.
    """
    scope = build_scope(user_id, chosen.loop or None)

    def read() -> tuple[Waiting, bool]:
        if not chosen.is_narrow:
            return _read_all(user_id, limit, chosen)
        found = filtered_questions.find(user_id, chosen, free_for("%(person)s"))
        return Waiting(found.ids[:limit], len(found.ids), found.is_partial), found.is_due

    return read_settled(scope, read)


def _read_all(user_id: str, limit: int, chosen: QueueFilter) -> tuple[Waiting, bool]:
    scope = build_scope(user_id, chosen.loop or None, mine="mine")
    pending = build_first_sql(limit, "r.status = 'pending'", mine="mine")
    statement = f"""
WITH mine AS MATERIALIZED ({MINE}), held AS MATERIALIZED ({_HELD}),
     free AS (SELECT id, priority_rank, timeout_at FROM ({pending}) AS pending
              UNION ALL SELECT * FROM held)
SELECT ARRAY(SELECT id FROM free ORDER BY {ORDER} LIMIT {limit:d}),
       ({_COUNT}) + (SELECT count(*) FROM held), {scope.is_due}"""  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(statement, {**scope.params, "statuses": [states.PENDING]})
        first, total, is_due = cursor.fetchone()
    return Waiting(first, total), is_due


class Queue:
    """The rows of an inbox for a paginator. Settle due requests before its use.

    Counting takes one statement, reading the rows another, and looking words up a third.
    """

    def __init__(self, user_id: str, loop_ids: list[str], chosen: QueueFilter) -> None:
        self.user_id = user_id
        self.chosen = chosen
        self.loop_ids = [chosen.loop] if chosen.loop else loop_ids

    @cached_property
    def found(self) -> filtered_questions.Found:
        """The requests that match a filter without counters."""
        return filtered_questions.find(self.user_id, self.chosen)

    @property
    def is_partial(self) -> bool:
        """Tells whether less urgent requests were not scanned."""
        return self.chosen.is_narrow and self.found.is_partial

    def count(self) -> int:
        if self.chosen.is_narrow:
            return len(self.found.ids)
        return count_open(self.user_id, self.chosen.loop or None)

    def __getitem__(self, wanted: slice) -> list[Request]:
        if wanted.start == wanted.stop:
            return []
        if self.chosen.is_narrow:
            return read_rows(self.found.ids[wanted])
        ids = f"SELECT id FROM ({build_first_sql(wanted.stop)}) AS upto OFFSET {wanted.start:d}"  # noqa: S608
        # an array, because the planner may run a subquery once for each row
        condition = f"reviews_request.id = ANY (ARRAY({ids}))"
        condition %= {"person": "%s", "loop": "%s"}  # Django's placeholders, in this order
        params = (self.user_id, self.chosen.loop or None) * 2
        is_here = RawSQL(condition, params, output_field=BooleanField())  # noqa: S611
        rows = Request.objects.filter(is_here).for_inbox()
        return list(rows.order_by("-priority_rank", "timeout_at", "id"))


def count_open(user_id: str, loop_id: str | None) -> int:
    """Settles and counts the requests open for the person. One statement if none is due."""
    scope = build_scope(user_id, loop_id, mine="mine")

    def read() -> tuple[int, bool]:
        with connection.cursor() as cursor:
            cursor.execute(
                f"WITH mine AS MATERIALIZED ({MINE}) SELECT ({_COUNT}), {scope.is_due}",
                {**scope.params, "statuses": sorted(states.OPEN)},
            )
            count, is_due = cursor.fetchone()
        return int(count), is_due

    return read_settled(build_scope(user_id, loop_id), read)


def read_rows(ids: list[str]) -> list[Request]:
    """Reads the rows of these requests, in this order."""
    rows = {item.pk: item for item in Request.objects.filter(pk__in=ids).for_inbox()}
    return [rows[each] for each in ids if each in rows]


def build_paginator(queue: Queue, *, per_page: int) -> "Paginator[Request]":
    """Builds the pages of an inbox."""
    return Paginator(queue, per_page)  # type: ignore[arg-type]
