"""The log of what happened to an account's requests, in which event streams read what is new.

A transition writes its event in its own transaction, so the log has every event that happened, and
no other. Transactions end in another order than they begin. A stream that only remembered the last
event would skip one whose transaction ends late. So it remembers a snapshot: what is not visible in
it is new, whenever it was begun. A stream that comes back with the id of an event goes on from the
oldest transaction that was under way when the event was written. It may get events again that were
written at the same time, and misses none.

After a crash PostgreSQL may use the numbers of lost transactions again. So what was made after a
snapshot is new, too, whatever its number, and reading begins a little before the snapshot.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

from django.db import connection

RETENTION_HOURS = 72
BATCH = 1_000  # events that are forgotten in one statement
PAGE = 100  # events that are read in one statement,
PAGE_BYTES = 128 * 1024  # and no more than this, but at least one
XIDS = 2**32  # no transaction has a multiple of it, and PostgreSQL refuses one in a snapshot
MAX_LOST = 50_000  # transactions; a crash loses fewer
SETTLED = timedelta(seconds=10)  # after which a transaction is on the disk

# An entry is the id, the account's id, the name, and the body unless a delivery has it.
APPEND = """
INSERT INTO webhooks_loggedevent (id, account_id, name, body, transaction_id, horizon, created_at)
SELECT id, account_id, name, body, pg_current_xact_id(), pg_snapshot_xmin(pg_current_snapshot()),
       (SELECT clock_timestamp())
  FROM unnest(%s::text[], %s::text[], %s::text[], %s::bytea[]) AS event (id, account_id, name, body)
ON CONFLICT ON CONSTRAINT webhooks_loggedevent_pkey DO NOTHING
"""
_NOW = "SELECT pg_current_snapshot()::text, clock_timestamp()"
_FIND = """
SELECT transaction_id::text, horizon::text, created_at FROM webhooks_loggedevent
 WHERE id = %(id)s AND account_id = %(account)s
   AND pg_visible_in_snapshot(transaction_id, pg_current_snapshot())
"""  # the last line is false for what another server wrote, whose dump was restored here
_IS_KNOWN = """
SELECT %(at)s > statement_timestamp() - make_interval(hours => %(hours)s)
   AND pg_snapshot_xmax(pg_current_snapshot()) >= %(oldest)s::xid8
"""
_READ = f"""
WITH scope AS MATERIALIZED (
    SELECT coalesce(%(until)s::pg_snapshot, pg_current_snapshot()) AS until,
           coalesce(%(until_at)s, clock_timestamp()) AS until_at
), found AS (
    SELECT e.id, e.transaction_id, e.name, coalesce(e.body, d.body) AS body,
           sum(octet_length(coalesce(e.body, d.body))) OVER w AS size, row_number() OVER w AS place,
           count(*) OVER () AS count
      FROM (SELECT logged.* FROM webhooks_loggedevent logged, scope
             WHERE account_id = %(account)s
               AND (transaction_id, id) > (%(transaction)s::xid8, %(id)s)
               AND NOT (transaction_id = %(own)s::xid8 AND id <= %(own_id)s)
               AND (created_at > %(seen_at)s
                    OR NOT pg_visible_in_snapshot(transaction_id, %(seen)s::pg_snapshot))
               AND created_at <= until_at AND pg_visible_in_snapshot(transaction_id, until)
             ORDER BY transaction_id, id LIMIT {PAGE}) e
      LEFT JOIN webhooks_delivery d
             ON d.id = e.id AND d.account_id = e.account_id AND e.body IS NULL
    WINDOW w AS (ORDER BY e.transaction_id, e.id)
)
SELECT until::text, until_at, count, id, transaction_id::text, name, body
  FROM scope LEFT JOIN found ON size <= {PAGE_BYTES} OR place = 1 ORDER BY place
"""  # noqa: S608
_FORGET = """
DELETE FROM webhooks_loggedevent WHERE (id, account_id) IN (
    SELECT id, account_id FROM webhooks_loggedevent
     WHERE created_at <= statement_timestamp() - make_interval(hours => %(hours)s)
     ORDER BY created_at LIMIT %(limit)s)
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """An event of the log; `body` has the bytes of the webhook."""

    id: str
    name: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was visible at a moment; `text` is a pg_snapshot."""

    text: str
    at: datetime

    @property
    def oldest(self) -> int:
        """The oldest transaction that was under way."""
        return int(self.text.partition(":")[0])


@dataclass(frozen=True, slots=True)
class Position:
    """How far a stream has read: everything in the snapshot `seen`, and nothing else.

    Between two pages, `until` is the snapshot that is being read, and `last` the transaction and
    the id of the last event. `own` is that of the event with which it came
    back. Reading begins at the transaction `low`.
    """

    seen: Snapshot
    low: int
    next_low: tuple[int, datetime]
    own: tuple[int, str] = (0, "")
    until: Snapshot | None = None
    last: tuple[int, str] | None = None

    @property
    def marker(self) -> str:
        """A text from which `resume_at` makes this position again; `webhooks.places` seals it."""
        microseconds = (self.seen.at - _EPOCH) // timedelta(microseconds=1)
        return f"{microseconds}.{self.seen.oldest}"

    def go_to(self, reached: Snapshot) -> "Position":
        """Has read everything in a snapshot."""
        low, (next_low, chosen_at) = self.low, self.next_low
        if reached.at - chosen_at >= SETTLED:
            low = min(next_low, reached.oldest)
            next_low, chosen_at = reached.oldest, reached.at
        return Position(reached, low, (next_low, chosen_at))


@dataclass(frozen=True, slots=True)
class Page:
    """Events in their order, and the position behind them."""

    entries: list[Entry]
    position: Position
    is_last: bool = field(default=True)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO_PARAMS: Mapping[str, Any] = MappingProxyType({})


def begin() -> Position:
    """Returns the position after the newest event."""
    ((text, at),) = _fetch(_NOW)
    return _behind(Snapshot(text, at))


def resume(account_id: str, event_id: str) -> Position | None:
    """The position behind an event of the account; None if the log does not have it."""
    rows = _fetch(_FIND, {"id": event_id, "account": account_id})
    if not rows:
        return None
    ((transaction, horizon, at),) = rows
    low = int(horizon)
    seen = Snapshot(f"{low}:{low}:", at)
    return Position(seen, low, (low, at), own=(int(transaction), event_id))


def resume_at(microseconds: int, oldest: int) -> Position | None:
    """The position of a marker; None if the log does not go back as far."""
    try:
        at = _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return None
    if oldest % XIDS == 0:
        return None
    params = {"at": at, "hours": RETENTION_HOURS, "oldest": str(max(0, oldest - MAX_LOST))}
    ((is_known,),) = _fetch(_IS_KNOWN, params)
    return _behind(Snapshot(f"{oldest}:{oldest}:", at)) if is_known else None


def read(account_id: str, position: Position) -> Page:
    """Returns what is new to the account, a page of it."""
    until = position.until
    transaction, last_id = position.last or (position.low, "")
    params = {
        "account": account_id,
        "seen": position.seen.text,
        "seen_at": position.seen.at,
        "until": until and until.text,
        "until_at": until and until.at,
        "transaction": str(transaction),
        "id": last_id,
        "own": str(position.own[0]),
        "own_id": position.own[1],
    }
    rows = _fetch(_READ, params)
    text, at, count, *_ = rows[0]
    reached = Snapshot(text, at)
    if count is None:
        return Page([], position.go_to(reached))
    entries = [Entry(pk, name, bytes(body or b"{}")) for *_, pk, _, name, body in rows]
    if count < PAGE and len(rows) == count:
        return Page(entries, position.go_to(reached))
    _, _, _, pk, transaction, *_ = rows[-1]
    return Page(entries, replace(position, until=reached, last=(int(transaction), pk)), False)


def forget_old() -> int:
    """Deletes up to BATCH events that are older than RETENTION_HOURS; returns how many."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET, {"hours": RETENTION_HOURS, "limit": BATCH})
        return int(cursor.rowcount)


def _behind(seen: Snapshot) -> Position:
    low = max(0, seen.oldest - MAX_LOST)
    return Position(seen, low, (low, seen.at))


def _fetch(statement: str, params: Mapping[str, Any] = _NO_PARAMS) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
