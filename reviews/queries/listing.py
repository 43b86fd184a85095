"""Reads a page of requests and their total in one statement, for any size of the table.

The statement finds the page's ids in the indexes, then fetches only those rows. It also reads
whether a request of the scope is due, which is rare while sweeps run. In that case the due requests
are settled, and the statement runs again.
"""

from dataclasses import dataclass
from typing import Any

from django.db import connection

from reviews.counters import build_counts_sql
from reviews.lifecycle import settling, states
from reviews.models import PRIORITIES
from reviews.models.metadata import HAS_PAIRS
from reviews.representation import LISTED

ORDERS = {
    "created_at_desc": ("created_at DESC", "id DESC"),
    "created_at_asc": ("created_at", "id"),
    "priority_desc": ("priority_rank DESC", "created_at DESC", "id DESC"),
    "status_asc": ("status", "created_at DESC", "id DESC"),
}
DEFAULT_ORDER = "created_at_desc"

# What a cursor holds of a column, as `reviews.queries.cursors` reads it.
_IN_CURSOR = {"created_at": "(extract(epoch FROM r.created_at) * 1000000)::bigint"}


@dataclass(frozen=True, slots=True)
class Scope:
    """A set of requests: `column` equals `id`, an SQL expression over `params`."""

    column: str
    id: str
    params: dict[str, str]

    @property
    def to_settle(self) -> settling.Scope:
        """Returns the scope for settling."""
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
    """The filters, the order (a key of ORDERS) and the page of a list.

    `pairs` are those of the metadata that a request has to have, as its index writes them.
    `cursor` has the values of the last request of the previous page, by column; it is empty for
    the first page, and None where pages are counted by `offset`.
    """

    status: str | None
    priority: str | None
    sort: str
    limit: int
    offset: int
    cursor: dict[str, Any] | None = None
    pairs: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[str, ...]:
        """The columns to sort by, without columns that are equal in all rows."""
        same = {"status": self.status, "priority_rank": self.priority}
        return tuple(part for part in ORDERS[self.sort] if same.get(part.split()[0]) is None)

    @property
    def uses_priority(self) -> bool:
        return self.priority is not None or self.sort == "priority_desc"

    @property
    def row_count(self) -> int:
        """How many rows to read; behind a cursor one more tells whether there are more."""
        return self.limit + (self.cursor is not None)


@dataclass(frozen=True, slots=True)
class RequestPage:
    """A page of requests, for `representation.encode`, and the total of all that match.

    `next_cursor` is the text of the cursor behind its last request, if more follow.
    """

    ids: list[str]
    entries: list[dict[str, Any]]
    total: int
    next_cursor: str | None = None


def fetch(scope: Scope, list_params: ListParams) -> RequestPage:
    """Reads the page after settling due requests. One statement if none is due."""
    params: dict[str, Any] = dict(scope.params)
    if list_params.status is not None:
        params["status"] = list_params.status
    if list_params.priority is not None:
        params.update(priority=list_params.priority, rank=PRIORITIES.index(list_params.priority))
    if list_params.pairs:
        params["pairs"] = list(list_params.pairs)
    params.update({f"after_{name}": value for name, value in (list_params.cursor or {}).items()})
    page = build_statement(scope, list_params)

    def read() -> tuple[RequestPage, bool]:
        with connection.cursor() as cursor:
            cursor.execute(page, params)
            rows = cursor.fetchall()
        found = [row for row in rows if row[0] is not None]
        requests = found[: list_params.limit]
        *_, total, is_due = rows[0]
        return RequestPage(
            ids=[row[0] for row in requests],
            entries=[LISTED.represent_row(row) for row in requests],
            total=total,
            next_cursor=requests[-1][-3] if len(found) > len(requests) else None,
        ), is_due

    return settling.read_settled(scope.to_settle, read)


def build_statement(scope: Scope, list_params: ListParams) -> str:
    """Builds the SQL of a page: the columns of each request, its cursor, total, is_due.

    An empty page is one row with a null id. Limit and offset are literals: for parameters the
    planner expects a tenth of the table and reads all of it.
    """
    order = ", ".join(f"page.{part}" for part in list_params.order)
    is_due = scope.to_settle.is_due
    return f"""
WITH {_build_matching(scope, list_params)}
counted AS (SELECT ({_build_total(scope, list_params)}) AS total, {is_due} AS is_due),
page AS (
    SELECT * FROM ({_build_streams(scope, list_params)}) AS stream
     ORDER BY {", ".join(list_params.order)} LIMIT {list_params.row_count}
     OFFSET {list_params.offset}
)
SELECT {LISTED.select}, {_build_cursor(list_params)}, counted.total, counted.is_due
  FROM counted LEFT JOIN (page CROSS JOIN LATERAL (
       SELECT * FROM reviews_request WHERE id = page.id OFFSET 0) AS r) ON true  -- never hashed
 ORDER BY {order}
"""  # noqa: S608 (only our own names and numbers)


def _build_matching(scope: Scope, list_params: ListParams) -> str:
    """Builds SQL for the requests with the metadata, which their index finds.

    Nothing counts these, so all of them are read once, for the total and for the page.
    """
    if not list_params.pairs:
        return ""
    return f"""matching AS MATERIALIZED (
    SELECT id, {scope.column}, status, priority, priority_rank, created_at FROM reviews_request
     WHERE {scope.column} = {scope.id} AND {HAS_PAIRS}),"""  # noqa: S608


def _build_streams(scope: Scope, list_params: ListParams) -> str:
    """Builds SQL for ids and their sort columns; each stream reads one index.

    A list by priority across statuses merges one stream for each status, so the index on both
    serves it and no index without the status is needed.
    """
    conditions = [f"{scope.column} = {scope.id}"]
    if list_params.priority is not None:
        conditions.append("priority_rank = %(rank)s")
    streams = [
        _build_stream([*conditions, *more], list_params) for more in _split_by_status(list_params)
    ]
    return " UNION ALL ".join(streams)


def _split_by_status(list_params: ListParams) -> list[list[str]]:
    """Returns the conditions of each stream on the status and on the place behind the cursor."""
    behind = _build_place(list_params)
    if list_params.status is not None:
        return [["status = %(status)s", *behind]]
    if list_params.sort == "status_asc":
        if not behind:
            return [[]]
        reached = list_params.cursor["status"] if list_params.cursor else ""
        later = [[f"status = '{status}'"] for status in states.STATUSES if status > reached]
        return [["status = %(after_status)s", *behind], *later]
    if list_params.uses_priority:
        return [[f"status = '{status}'", *behind] for status in states.STATUSES]
    return [behind]


def _build_place(list_params: ListParams) -> list[str]:
    """Returns the condition for rows behind the cursor, which are of one status if sorted by it."""
    if not list_params.cursor:
        return []
    columns = [part.split()[0] for part in list_params.order if part != "status"]
    values = [f"%(after_{column})s" for column in columns]
    sign = ">" if list_params.sort == "created_at_asc" else "<"
    return [f"({', '.join(columns)}) {sign} ({', '.join(values)})"]


def _build_cursor(list_params: ListParams) -> str:
    """Builds SQL for the text of the cursor behind a row; see `reviews.queries.cursors`."""
    if list_params.cursor is None:
        return "NULL"
    columns = [part.split()[0] for part in ORDERS[list_params.sort]]
    return f"concat_ws('.', {', '.join(_IN_CURSOR.get(name, f'r.{name}') for name in columns)})"


def _build_stream(conditions: list[str], list_params: ListParams) -> str:
    return f"""
    (SELECT {", ".join(part.split()[0] for part in list_params.order)}
       FROM {"matching" if list_params.pairs else "reviews_request"}
      WHERE {" AND ".join(conditions)}
      ORDER BY {", ".join(list_params.order)} LIMIT {list_params.offset + list_params.row_count})"""  # noqa: S608


def _build_total(scope: Scope, list_params: ListParams) -> str:
    """Builds SQL that reads the total from the counters, or counts what has the metadata."""
    conditions = ["TRUE"]
    if list_params.status is not None:
        conditions.append("status = %(status)s")
    if list_params.priority is not None:
        conditions.append("priority = %(priority)s")
    where = " AND ".join(conditions)
    if list_params.pairs:
        return f"SELECT count(*) FROM matching WHERE {where}"  # noqa: S608
    numbers = build_counts_sql(scope.column, scope.id)
    return f"""SELECT coalesce(sum(n), 0)::bigint FROM ({numbers}) AS number
         WHERE {where}"""  # noqa: S608
