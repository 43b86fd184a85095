"""The one place that writes `status`: guarded updates with their outbox rows.

Each rule repeats its row of `reviews.lifecycle.states` in SQL. A transition locks its rows first
and judges them by the clock that it reads then: whoever waited for a row past the deadline is too
late, and from `timeout_at` on only TIME_OUT gets through. No row updated means that the race was
lost.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import connection

from reviews.lifecycle import events, states
from reviews.lifecycle.conditions import DUE_AT, NOW, OPEN, held_by, in_time, lapsed, overdue
from reviews.lifecycle.states import Transition
from webhooks.outbox import ENQUEUE

_AT = "locked.at"  # the moment when the last of the rows was locked
_TOUCH = f"updated_at = {_AT}"
_UNCLAIM = "claimed_by_id = NULL, claimed_at = NULL, claim_expires_at = NULL"


@dataclass(frozen=True, slots=True)
class Rule:
    """The SQL of a transition: which rows it may move at a moment, and what else it writes."""

    guard: Callable[[str], str]
    assign: str


def _in_time_and(condition: str) -> Callable[[str], str]:
    return lambda now: f"{in_time(now)} AND {condition}"


def _held(now: str) -> str:
    return f"{in_time(now)} AND {held_by('%(reviewer)s', now)}"


def _free_or_held(now: str) -> str:
    return f"{in_time(now)} AND (r.status = 'pending' OR {held_by('%(reviewer)s', now)})"


RULES: dict[Transition, Rule] = {
    states.CLAIM: Rule(
        guard=_in_time_and("r.status = 'pending'"),
        assign=f"""{_TOUCH}, claimed_by_id = %(reviewer)s, claimed_at = {_AT},
            claim_expires_at = {_AT} + make_interval(secs => %(lease)s),
            claim_count = r.claim_count + 1""",
    ),
    states.RELEASE: Rule(guard=_held, assign=f"{_TOUCH}, {_UNCLAIM}"),
    states.LAPSE: Rule(guard=lapsed, assign=f"updated_at = r.claim_expires_at, {_UNCLAIM}"),
    states.ANSWER: Rule(
        guard=_free_or_held,
        assign=f"""{_TOUCH}, response_data = %(answer)s, response_by_id = %(reviewer)s,
            response_at = {_AT}, claim_expires_at = NULL""",
    ),
    states.TIME_OUT: Rule(
        guard=overdue,
        assign=f"updated_at = r.timeout_at, response_data = r.default_response, {_UNCLAIM}",
    ),
    states.CANCEL: Rule(guard=_in_time_and("r.status = 'pending'"), assign=_TOUCH),
    states.WITHDRAW: Rule(guard=_in_time_and(OPEN), assign=f"{_TOUCH}, {_UNCLAIM}"),
}

ONE = "r.id = %(id)s AND r.creator_id = %(account)s"
OF_LOOP = "r.loop_id = %(loop)s"
# With events and another sweep beside it a statement of 500 took 52-66 ms on two cores.
BATCH = 400
SETTLERS = 0x53657474  # of this database's advisory locks: who settles shares it

# Before a row is locked: whoever finds one locked can wait until no settler is left.
_AS_SETTLER = f"(SELECT pg_advisory_xact_lock_shared({SETTLERS})::text) IS NOT NULL"
# The commit does not wait for the disk, nor for a replica that is away: what a crash of the server
# takes back is due still, so it comes out the same again, and whatever follows from it (an attempt
# of a delivery) waits for the disk with it.
_ASYNCHRONOUS = "(SELECT set_config('synchronous_commit', 'off', true)) IS NOT NULL"


def move(transition: Transition, which: str, **params: Any) -> list[str]:
    """Moves the rows that `which` selects and the transition's guard admits; returns their ids.

    Waits for rows that somebody holds. The same statement writes an outbox row for each that has
    a `callback_url`.
    """
    return _execute(transition, f"{which} AND {RULES[transition].guard(NOW)}", "TRUE", params)


def due_in(transition: Transition, where: str = "TRUE") -> str:
    """For `sweep`: a batch of what is due for TIME_OUT or LAPSE, and meets `where`."""
    order = DUE_AT if transition is states.TIME_OUT else "r.claim_expires_at"
    return f"""{_AS_SETTLER} AND {where} AND {RULES[transition].guard(NOW)}
         ORDER BY {order} LIMIT {BATCH}"""


def sweep(transition: Transition, due: str, **params: Any) -> list[str]:
    """Moves a batch (`due_in`) of what nobody holds; returns the ids, fewer than BATCH at the end.

    Inside a transaction of somebody else's the commit is left as it is.
    """
    condition = "TRUE" if connection.in_atomic_block else _ASYNCHRONOUS
    return _execute(transition, due, condition, params, "SKIP LOCKED")


def _execute(
    transition: Transition, which: str, condition: str, params: dict[str, Any], wait: str = ""
) -> list[str]:
    """An array of ids and the clock come out of one aggregate, so that the clock is read when all
    rows are locked, and the array is computed once: joined instead, the planner may run the
    sub-select again for each row, and its LIMIT moves on."""
    rule = RULES[transition]
    told = f", events AS ({events.EVENTS}), told AS ({ENQUEUE})" if transition.event else ""
    statement = f"""
WITH held AS MATERIALIZED (
    SELECT r.id FROM reviews_request r WHERE {which} FOR NO KEY UPDATE {wait}
), locked AS MATERIALIZED (
    SELECT array_agg(id) AS ids, clock_timestamp() AS at FROM held
), moved AS (
    UPDATE reviews_request AS r SET status = '{transition.target}', {rule.assign}
      FROM locked WHERE r.id = ANY (locked.ids) AND {rule.guard(_AT)}
    RETURNING r.*
){told}
SELECT id FROM moved WHERE {condition}"""  # noqa: S608 (nothing in it comes from outside)
    with connection.cursor() as cursor:
        cursor.execute(statement, {**params, "event": transition.event})
        return [pk for (pk,) in cursor.fetchall()]
