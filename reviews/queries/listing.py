"""A page of requests, and how many match in all: one statement for any size of the table.

Ids first: a page is found in the indexes alone, and only its own rows are fetched. What is not
any more what its column says (overdue, claim run out) is few as long as sweeps live. It is found
by the small indexes of the open and the claimed, left out of what is read by stored status, and
merged back in as what it is seen as. Without sweeps this is slower, never wrong.
"""

from dataclasses import dataclass
from typing import Any

from django.db import connection

from db.json_sql import json_object, moment, raw, word
from reviews.counters import numbers_of
from reviews.lifecycle import events, states
from reviews.models import OVERDUE_SQL, PRIORITIES

ORDERS = {
    "created_at_desc": ("created_at DESC", "id DESC"),
    "created_at_asc": ("created_at", "id"),
    "priority_desc": ("priority_rank DESC", "created_at DESC", "id DESC"),
    "status_asc": ("status", "created_at DESC", "id DESC"),
}
DEFAULT_ORDER = "created_at_desc"

_LAPSED = """status = 'claimed' AND claim_expires_at <= statement_timestamp()
    AND timeout_at > statement_timestamp()"""
_IS_OVERDUE = "r.status IN ('pending', 'claimed') AND r.timeout_at <= statement_timestamp()"
_IS_LAPSED = "r.status = 'claimed' AND r.claim_expires_at <= statement_timestamp()"
# What an overdue row or a lapsed claim shows otherwise than stored.
_SEEN = {
    "status": word(f"""CASE WHEN {_IS_OVERDUE} THEN 'timeout'
        WHEN {_IS_LAPSED} THEN 'pending' ELSE r.status END"""),
    "response_data": raw(
        f"CASE WHEN {_IS_OVERDUE} THEN r.default_response ELSE r.response_data END"
    ),
    "updated_at": moment(f"""CASE WHEN {_IS_OVERDUE} THEN r.timeout_at
        WHEN {_IS_LAPSED} THEN r.claim_expires_at ELSE r.updated_at END"""),
}
# Spelled so that the planner expects few and hashes them: a long list that it foresees, it would
# search from end to end for every row.
_SETTLED = "id NOT IN (SELECT unnest(ARRAY(SELECT id FROM unsettled)))"
# The fields of an entry; a test compares them with the API's serializer.
FIELDS = (
    "id", "loop_id", "processing_type", "type", "priority", "request_text", "response_type",
    "status", "response_data", "response_by", "response_at", "response_time_seconds",
    "timeout_at", "created_at", "updated_at",
)  # fmt: skip
_ENTRY = json_object({name: _SEEN.get(name, events.REQUEST[name]) for name in FIELDS})


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose requests: `column` of the table is `id`, an SQL expression over `params`."""

    column: str
    id: str
    params: dict[str, str]


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
    def sees_status(self) -> bool:
        """Whether it matters here what a row is seen as; completed and cancelled ones are both."""
        if self.status is None:
            return self.sort == "status_asc"
        return self.status not in (states.COMPLETED, states.CANCELLED)

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
    """One statement."""
    params: dict[str, Any] = dict(scope.params)
    if window.status is not None:
        params["status"] = window.status
    if window.priority is not None:
        params.update(priority=window.priority, rank=PRIORITIES.index(window.priority))
    with connection.cursor() as cursor:
        cursor.execute(statement(scope, window), params)
        rows = cursor.fetchall()
    shown = [row for row in rows if row[0] is not None]
    return Found([pk for pk, *_ in shown], [entry for _, entry, _ in shown], rows[0][-1])


def statement(scope: Scope, window: Window) -> str:
    """The SQL of a page: `(id, entry, total)` for each request; at least one row, perhaps of
    no request.

    The window's numbers stand in it as they are: a planner that does not know them expects a
    tenth of the table, and reads it whole.
    """
    order = ", ".join(f"page.{part}" for part in window.order)
    unsettled = f"unsettled AS MATERIALIZED ({_unsettled(scope)})," if window.sees_status else ""
    return f"""
WITH {unsettled}
counted AS ({_total(scope, window)}),
page AS (
    SELECT * FROM ({_streams(scope, window)}) AS stream
     ORDER BY {", ".join(window.order)} LIMIT {window.limit} OFFSET {window.offset}
)
SELECT r.id, {_ENTRY}, counted.total
  FROM counted LEFT JOIN (page CROSS JOIN LATERAL (
       SELECT * FROM reviews_request WHERE id = page.id OFFSET 0) AS r) ON true  -- never hashed
 ORDER BY {order}
"""  # noqa: S608 (names and numbers of ours alone)


def _unsettled(scope: Scope) -> str:
    """The rows of the scope that are seen as something else than they are stored as."""
    found = f"FROM reviews_request WHERE {scope.column} = {scope.id}"
    columns = "status AS stored, priority_rank, created_at"
    # of the column's own type, or the merge by status would sort all that it has read
    return f"""SELECT id, 'timeout'::varchar(9) AS status, {columns} {found} AND {OVERDUE_SQL}
     UNION ALL
    SELECT id, 'pending'::varchar(9), {columns} {found} AND {_LAPSED}"""


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
    elif window.sees_priority and not window.sees_status:
        statuses = [f"status = '{status}'" for status in states.STATUSES]
    if window.sees_status:
        conditions.append(_SETTLED)
    streams = [_stream("reviews_request", [*conditions, status], window) for status in statuses]
    if window.sees_status:
        streams.append(_stream("unsettled", [*conditions[1:-1], *statuses], window))
    return " UNION ALL ".join(streams)


def _stream(table: str, conditions: list[str], window: Window) -> str:
    return f"""
    (SELECT {", ".join(part.split()[0] for part in window.order)} FROM {table}
      WHERE {" AND ".join(conditions)}
      ORDER BY {", ".join(window.order)} LIMIT {window.offset + window.limit})"""  # noqa: S608


def _total(scope: Scope, window: Window) -> str:
    """One row `(total)`: from the tally, less and plus what is seen as something else."""
    conditions = ["TRUE"]
    if window.status is not None:
        conditions.append("status = %(status)s")
    if window.priority is not None:
        conditions.append("priority = %(priority)s")
    numbers = numbers_of(scope.column, scope.id)
    total = f"""SELECT coalesce(sum(n), 0)::bigint AS total FROM ({numbers}) AS number
         WHERE {" AND ".join(conditions)}"""  # noqa: S608
    if window.status is None or not window.sees_status:
        return total
    rank = "TRUE" if window.priority is None else "priority_rank = %(rank)s"
    return f"""SELECT ({total}) + count(*) FILTER (WHERE status = %(status)s)
         - count(*) FILTER (WHERE stored = %(status)s) AS total FROM unsettled WHERE {rank}"""  # noqa: S608
