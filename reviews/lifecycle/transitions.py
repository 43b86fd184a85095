"""Runs transitions: guarded updates of `status`, with their outbox rows. Nothing else writes it.

Each rule repeats its row of `reviews.lifecycle.states` in SQL. A transition first locks its rows,
then reads the clock and checks them. Whoever waited for a row until its deadline passed is too
late: from `timeout_at` on only TIME_OUT succeeds. If no row is updated, the race is lost.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from reviews.lifecycle import events, states
from reviews.lifecycle.conditions import DUE_AT, NOW, OPEN, held_by, in_time, lapsed, overdue
from reviews.lifecycle.states import Transition
from web import call_ids
from webhooks.event_log import LOG
from webhooks.outbox import ENQUEUE

_AT = "locked.at"  # the time when the last row was locked
_TOUCH = f"updated_at = {_AT}"
_UNCLAIM = "claimed_by_id = NULL, claimed_at = NULL, claim_expires_at = NULL"
_TRACE = "traceparent = coalesce(%(traceparent)s::text, r.traceparent)"  # of the call that ends it


@dataclass(frozen=True, slots=True)
class Rule:
    """The SQL of a transition: which rows it may move at a time, and what else it writes."""

    guard: Callable[[str], str]
    assign: str


def _guard_in_time_and(condition: str) -> Callable[[str], str]:
    return lambda now: f"{in_time(now)} AND {condition}"


def _guard_held(now: str) -> str:
    return f"{in_time(now)} AND {held_by('%(reviewer)s', now)}"


def _guard_free_or_held(now: str) -> str:
    return f"{in_time(now)} AND (r.status = 'pending' OR {held_by('%(reviewer)s', now)})"


RULES: dict[Transition, Rule] = {
    states.CLAIM: Rule(
        guard=_guard_in_time_and("r.status = 'pending'"),
        assign=f"""{_TOUCH}, claimed_by_id = %(reviewer)s, claimed_at = {_AT},
            claim_expires_at = {_AT} + make_interval(secs => %(lease)s),
            claim_count = r.claim_count + 1""",
    ),
    states.RELEASE: Rule(guard=_guard_held, assign=f"{_TOUCH}, {_UNCLAIM}"),
    states.LAPSE: Rule(guard=lapsed, assign=f"updated_at = r.claim_expires_at, {_UNCLAIM}"),
    states.ANSWER: Rule(
        guard=_guard_free_or_held,
        assign=f"""{_TOUCH}, response_data = %(answer)s, response_by_id = %(reviewer)s,
            response_at = {_AT}, response_comment = %(comment)s::text, claim_expires_at = NULL""",
    ),
    states.TIME_OUT: Rule(
        guard=overdue,
        assign=f"updated_at = r.timeout_at, response_data = r.default_response, {_UNCLAIM}",
    ),
    states.CANCEL: Rule(
        guard=_guard_in_time_and("r.status = 'pending'"), assign=f"{_TOUCH}, {_TRACE}"
    ),
    states.WITHDRAW: Rule(guard=_guard_in_time_and(OPEN), assign=f"{_TOUCH}, {_UNCLAIM}, {_TRACE}"),
}

ONE = "r.id = %(id)s AND r.creator_id = %(account)s"
OF_LOOP = "r.loop_id = %(loop)s"
# A statement of 400 with events, beside another sweep, took 51 ms on two cores.
BATCH = 300
# The channel of notifications with the ids of requests that have ended, and of accounts to which
# something else has happened.
CHANGED_CHANNEL = "request_ended"
SETTLERS = 0x53657474  # an advisory lock of this database, shared by all who settle

# Taken before any row is locked, so that who finds a row locked can wait for all settlers.
_AS_SETTLER = f"(SELECT pg_advisory_xact_lock_shared({SETTLERS})::text) IS NOT NULL"
# The commit waits neither for the disk nor for a missing replica. What a crash of the server undoes
# is still due and is settled again with the same result; a later write that depends on it (an
# attempt of a delivery) waits for the disk for both.
_ASYNCHRONOUS = "(SELECT set_config('synchronous_commit', 'off', true)) IS NOT NULL"


def move(transition: Transition, which: str, **params: Any) -> list[str]:
    """Moves the rows that `which` selects and the transition's guard allows; returns their ids.

    Waits for locked rows. The same statement logs an event for each request, and writes an outbox
    row if it has a `callback_url`.
    """
    return _execute(transition, f"{which} AND {RULES[transition].guard(NOW)}", "TRUE", params)


def select_due(transition: Transition, where: str = "TRUE") -> str:
    """Builds SQL for `sweep` that selects a batch due for TIME_OUT or LAPSE and in `where`."""
    order = DUE_AT if transition is states.TIME_OUT else "r.claim_expires_at"
    return f"""{_AS_SETTLER} AND {where} AND {RULES[transition].guard(NOW)}
         ORDER BY {order} LIMIT {BATCH}"""


def sweep(transition: Transition, due: str, **params: Any) -> list[str]:
    """Moves a batch (`select_due`) of unlocked rows; returns the ids, fewer than BATCH at the end.

    Inside a caller's transaction the commit stays synchronous.
    """
    condition = "TRUE" if connection.in_atomic_block else _ASYNCHRONOUS
    return _execute(transition, due, condition, params, "SKIP LOCKED")


def _execute(
    transition: Transition, which: str, condition: str, params: dict[str, Any], wait: str = ""
) -> list[str]:
    """Locks the rows, moves them and writes their events in one statement; returns the ids.

    One aggregate returns the ids and the clock, so the clock is read after all rows are locked
    and the ids are selected once. With a join the planner may run the sub-select again for each
    row, and its LIMIT selects other rows.
    """
    rule = RULES[transition]
    record = f", events AS ({events.EVENTS}), enqueued AS ({ENQUEUE}), logged AS ({LOG})"
    is_end = transition.target in states.FINAL
    is_asynchronous = condition == _ASYNCHRONOUS
    notify = f", pg_notify('{CHANGED_CHANNEL}', id)" if is_end and is_asynchronous else ""
    statement = f"""
WITH selected AS MATERIALIZED (
    SELECT r.id FROM reviews_request r WHERE {which} FOR NO KEY UPDATE {wait}
), locked AS MATERIALIZED (
    SELECT array_agg(id) AS ids, clock_timestamp() AS at FROM selected
), moved AS (
    UPDATE reviews_request AS r SET status = '{transition.target}', {rule.assign}
      FROM locked WHERE r.id = ANY (locked.ids) AND {rule.guard(_AT)}
    RETURNING r.*
){record if transition.event else ""}
SELECT id, creator_id{notify} FROM moved WHERE {condition}"""  # noqa: S608 (nothing in it comes from outside)
    by = {"event": transition.event, "call_id": call_ids.current()}
    with connection.cursor() as cursor:
        cursor.execute(statement, {**params, **by})
        moved = cursor.fetchall()
    hints = [pk if is_end else account for pk, account, *_ in moved if transition.event]
    if hints and not is_asynchronous:
        transaction.on_commit(lambda: send_hints(hints), robust=True)
    return [pk for pk, *_ in moved]


def send_hints(ids: list[str]) -> None:
    """Notifies those who wait for these requests and accounts, in a transaction of its own.

    PostgreSQL lets one transaction with notifications commit at a time. One that waits for a
    replica would hold up every other end.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('synchronous_commit', 'off', true), pg_notify(%s, hint.id)"
            " FROM unnest(%s::text[]) AS hint (id)",
            [CHANGED_CHANNEL, ids],
        )
