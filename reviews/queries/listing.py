"""Reads a page of requests and their total in one statement, for any size of the table.

The statement finds the page's ids in the indexes, then fetches only those rows. It also tells
whether anything in its scope is due. That is rare while sweeps run; then the due requests are
settled, and the statement runs again.
"""

from dataclasses import dataclass
from typing import Any

from django.db import connection

from reviews.counters import build_counts_sql
from reviews.lifecycle import settling, states
from reviews.models import PRIORITIES
from reviews.representation import LISTED

ORDERS = {
    "created_at_desc": ("created_at DESC", "id DESC"),
    "created_at_asc": ("created_at", "id"),
    "priority_desc": ("priority_rank DESC", "created_at DESC", "id DESC"),
    "status_asc": ("status", "created_at DESC", "id DESC"),
}
DEFAULT_ORDER = "created_at_desc"


@dataclass(frozen=True, slots=True)
class Scope:
    """A set of requests: `column` equals `id`, an SQL expression over `params`."""

    column: str
    id: str
    params: dict[str, str]

    @property
    def to_settle(self) -> settling.Scope:
        """The same scope for settling."""
        return settling.Scope(f"r.{self.column} = {self.id}", self.params)


def scope_to_account(account_id: str) -> Scope:
    """Returns the scope of the requests that the account created."""
    return Scope("creator_id", "%(account)s", {"account": account_id})


def scope_to_loop(loop_id: str) -> Scope:
    """Returns the scope of the requests sent to the loop."""
    return Scope("loop_id", "%(loop)s", {"loop": loop_id})


def scope_to_account_in_loop(account_id: str, loop_id: str) -> Scope:
    """Returns the scope of the loop's requests, empty unless the account created the loop.

    Only a loop's creator creates requests in it.
    """
    own = "(SELECT id FROM loops_loop WHERE id = %(loop)s AND creator_id = %(account)s)"
    return Scope("loop_id", own, {"loop": loop_id, "account": account_id})


@dataclass(frozen=True, slots=True)
class ListParams:
    """The filters, the order (a key of ORDERS) and the page of a list."""

    status: str | None
    priority: str | None
    sort: str
    limit: int
    offset: int

    @property
    def order(self) -> tuple[str, ...]:
        """The columns to sort by, without columns that are equal in all rows."""
        same = {"status": self.status, "priority_rank": self.priority}
        return tuple(part for part in ORDERS[self.sort] if same.get(part.split()[0]) is None)

    @property
    def uses_priority(self) -> bool:
        return self.priority is not None or self.sort == "priority_desc"


@dataclass(frozen=True, slots=True)
class RequestPage:
    """A page of requests, for `representation.encode`, and the total of all that match."""

    ids: list[str]
    entries: list[dict[str, Any]]
    total: int


def fetch(scope: Scope, list_params: ListParams) -> RequestPage:
    """Reads the page, settling what is due first. One statement if nothing is due."""
    params: dict[str, Any] = dict(scope.params)
    if list_params.status is not None:
        params["status"] = list_params.status
    if list_params.priority is not None:
        params.update(priority=list_params.priority, rank=PRIORITIES.index(list_params.priority))
    page = build_statement(scope, list_params)

    def read() -> tuple[RequestPage, bool]:
        with connection.cursor() as cursor:
            cursor.execute(page, params)
            rows = cursor.fetchall()
        requests = [row for row in rows if row[0] is not None]
        *_, total, is_due = rows[0]
        ids = [row[0] for row in requests]
        return RequestPage(ids, [LISTED.represent_row(row) for row in requests], total), is_due

    return settling.read_settled(scope.to_settle, read)


def build_statement(scope: Scope, list_params: ListParams) -> str:
    """Builds the SQL of a page: the columns of each request, total, is_due.

    An empty page is one row with a null id. Limit and offset are literals: a planner that does
    not know them expects a tenth of the table and reads all of it.
    """
    order = ", ".join(f"page.{part}" for part in list_params.order)
    is_due = scope.to_settle.is_due
    return f"""
WITH counted AS (SELECT ({_build_total(scope, list_params)}) AS total, {is_due} AS is_due),
page AS (
    SELECT * FROM ({_build_streams(scope, list_params)}) AS stream
     ORDER BY {", ".join(list_params.order)} LIMIT {list_params.limit} OFFSET {list_params.offset}
)
SELECT {LISTED.select}, counted.total, counted.is_due
  FROM counted LEFT JOIN (page CROSS JOIN LATERAL (
       SELECT * FROM reviews_request WHERE id = page.id OFFSET 0) AS r) ON true  -- never hashed
 ORDER BY {order}
"""  # noqa: S608 (only our own names and numbers)


def _build_streams(scope: Scope, list_params: ListParams) -> str:
    """Builds SQL for ids and their sort columns; each stream reads one index.

    A list by priority across statuses merges one stream for each status, so the index on both
    serves it and no index without the status is needed.
    """
    conditions = [f"{scope.column} = {scope.id}"]
    if list_params.priority is not None:
        conditions.append("priority_rank = %(rank)s")
    statuses = ["TRUE"]
    if list_params.status is not None:
        statuses = ["status = %(status)s"]
    elif list_params.uses_priority and list_params.sort != "status_asc":
        statuses = [f"status = '{status}'" for status in states.STATUSES]
    streams = [_build_stream([*conditions, status], list_params) for status in statuses]
    return " UNION ALL ".join(streams)


def _build_stream(conditions: list[str], list_params: ListParams) -> str:
    return f"""
    (SELECT {", ".join(part.split()[0] for part in list_params.order)} FROM reviews_request
      WHERE {" AND ".join(conditions)}
      ORDER BY {", ".join(list_params.order)} LIMIT {list_params.offset + list_params.limit})"""  # noqa: S608


def _build_total(scope: Scope, list_params: ListParams) -> str:
    """Builds SQL that reads the total from the counters."""
    conditions = ["TRUE"]
    if list_params.status is not None:
        conditions.append("status = %(status)s")
    if list_params.priority is not None:
        conditions.append("priority = %(priority)s")
    numbers = build_counts_sql(scope.column, scope.id)
    return f"""SELECT coalesce(sum(n), 0)::bigint FROM ({numbers}) AS number
         WHERE {" AND ".join(conditions)}"""  # noqa: S608
