"""A page of requests, and how many match in all: one statement for any size of the table.

Ids first: a page is found in the indexes alone, and only its own rows are fetched. The statement
says as well whether anything in its scope is due. As long as sweeps live that is rarely so; else
it is settled, and the statement runs again.
"""

from dataclasses import dataclass
from typing import Any

from django.db import connection

from db.json_sql import json_object
from reviews.counters import numbers_of
from reviews.lifecycle import events, settling, states
from reviews.models import PRIORITIES

ORDERS = {
    "created_at_desc": ("created_at DESC", "id DESC"),
    "created_at_asc": ("created_at", "id"),
    "priority_desc": ("priority_rank DESC", "created_at DESC", "id DESC"),
    "status_asc": ("status", "created_at DESC", "id DESC"),
}
DEFAULT_ORDER = "created_at_desc"

# The fields of an entry; a test compares them with the API's serializer.
FIELDS = (
    "id", "loop_id", "processing_type", "type", "priority", "request_text", "response_type",
    "status", "response_data", "response_by", "response_at", "response_time_seconds",
    "timeout_at", "created_at", "updated_at",
)  # fmt: skip
_ENTRY = json_object({name: events.REQUEST[name] for name in FIELDS})


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose requests: `column` of the table is `id`, an SQL expression over `params`."""

    column: str
    id: str
    params: dict[str, str]

    @property
    def settled(self) -> settling.Scope:
        """What is settled before it is listed."""
        return settling.Scope(f"r.{self.column} = {self.id}", self.params)


def of_account(account_id: str) -> Scope:
    """What the account created."""
    return Scope("creator_id", "%(account)s", {"account": account_id})


def of_loop(loop_id: str) -> Scope:
    """What was sent to the loop."""
    return Scope("loop_id", "%(loop)s", {"loop": loop_id})


def of_account_in_loop(account_id: str, loop_id: str) -> Scope:
    """The same, where the loop is the account's: all that is in a loop is its creator's."""
    own = "(SELECT id FROM loops_loop WHERE id = %(loop)s AND creator_id = %(account)s)"
    return Scope("loop_id", own, {"loop": loop_id, "account": account_id})


@dataclass(frozen=True, slots=True)
class Window:
    """Which of the matching requests, in which order (a key of ORDERS)."""

    status: str | None
    priority: str | None
    sort: str
    limit: int
    offset: int

    @property
    def order(self) -> tuple[str, ...]:
        """The columns to sort by; what all rows have in common is not among them."""
        same = {"status": self.status, "priority_rank": self.priority}
        return tuple(part for part in ORDERS[self.sort] if same.get(part.split()[0]) is None)

    @property
    def sees_priority(self) -> bool:
        return self.priority is not None or self.sort == "priority_desc"


@dataclass(frozen=True, slots=True)
class Found:
    """The requests of a page, `entries` in the JSON that the API shows, and how many match in
    all."""

    ids: list[str]
    entries: list[str]
    total: int


def fetch(scope: Scope, window: Window) -> Found:
    """One statement, where nothing is due."""
    params: dict[str, Any] = dict(scope.params)
    if window.status is not None:
        params["status"] = window.status
    if window.priority is not None:
        params.update(priority=window.priority, rank=PRIORITIES.index(window.priority))
    page = statement(scope, window)

    def read() -> tuple[Found, bool]:
        with connection.cursor() as cursor:
            cursor.execute(page, params)
            rows = cursor.fetchall()
        context = [row for row in rows if row[0] is not None]
        _, _, total, is_due = rows[0]
        return Found([row[0] for row in context], [row[1] for row in context], total), is_due

    return settling.read_settled(scope.settled, read)


def statement(scope: Scope, window: Window) -> str:
    """The SQL of a page: `(id, entry, total, is_due)` for each request; at least one row, perhaps
    of no request.

    The window's numbers stand in it as they are: a planner that does not know them expects a
    tenth of the table, and reads it whole.
    """
    order = ", ".join(f"page.{part}" for part in window.order)
    return f"""
WITH counted AS (SELECT ({_total(scope, window)}) AS total, {scope.settled.is_due} AS is_due),
page AS (
    SELECT * FROM ({_streams(scope, window)}) AS stream
     ORDER BY {", ".join(window.order)} LIMIT {window.limit} OFFSET {window.offset}
)
SELECT r.id, {_ENTRY}, counted.total, counted.is_due
  FROM counted LEFT JOIN (page CROSS JOIN LATERAL (
       SELECT * FROM reviews_request WHERE id = page.id OFFSET 0) AS r) ON true  -- never hashed
 ORDER BY {order}
"""  # noqa: S608 (names and numbers of ours alone)


def _streams(scope: Scope, window: Window) -> str:
    """The ids with what they are sorted by, and no more: each stream is read in one index.

    By priority across statuses, one stream for each status is merged: the index that has both
    serves it, and needs no sister without the status.
    """
    conditions = [f"{scope.column} = {scope.id}"]
    if window.priority is not None:
        conditions.append("priority_rank = %(rank)s")
    statuses = ["TRUE"]
    if window.status is not None:
        statuses = ["status = %(status)s"]
    elif window.sees_priority and window.sort != "status_asc":
        statuses = [f"status = '{status}'" for status in states.STATUSES]
    streams = [_stream([*conditions, status], window) for status in statuses]
    return " UNION ALL ".join(streams)


def _stream(conditions: list[str], window: Window) -> str:
    return f"""
    (SELECT {", ".join(part.split()[0] for part in window.order)} FROM reviews_request
      WHERE {" AND ".join(conditions)}
      ORDER BY {", ".join(window.order)} LIMIT {window.offset + window.limit})"""  # noqa: S608


def _total(scope: Scope, window: Window) -> str:
    """One number, from the tally."""
    conditions = ["TRUE"]
    if window.status is not None:
        conditions.append("status = %(status)s")
    if window.priority is not None:
        conditions.append("priority = %(priority)s")
    numbers = numbers_of(scope.column, scope.id)
    return f"""SELECT coalesce(sum(n), 0)::bigint FROM ({numbers}) AS number
         WHERE {" AND ".join(conditions)}"""  # noqa: S608
