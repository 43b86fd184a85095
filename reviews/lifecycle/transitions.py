"""The one place that writes `status`: guarded updates with their outbox rows.

Each rule repeats its row of `reviews.lifecycle.states` in SQL. Deadlines are compared with the
database's statement_timestamp(), so from `timeout_at` on only TIME_OUT gets through. No row
updated means that the race was lost.
"""

from dataclasses import dataclass
from typing import Any

from django.db import connection

from reviews.lifecycle import events, states
from reviews.lifecycle.states import Transition
from reviews.models import DUE_AT_SQL, OVERDUE_SQL
from webhooks.outbox import ENQUEUE

_IN_TIME = "timeout_at > statement_timestamp()"
_FREE = "(status = 'pending' OR status = 'claimed' AND claim_expires_at <= statement_timestamp())"
_HELD = (
    "(status = 'claimed' AND claimed_by_id = %(reviewer)s"
    " AND claim_expires_at > statement_timestamp())"
)
_UNCLAIM = "claimed_by_id = NULL, claimed_at = NULL, claim_expires_at = NULL"
_TOUCH = "updated_at = statement_timestamp()"


@dataclass(frozen=True, slots=True)
class Rule:
    """The SQL of a transition: which rows it may move, and what else it writes."""

    guard: str
    assign: str


RULES: dict[Transition, Rule] = {
    states.CLAIM: Rule(
        guard=f"{_IN_TIME} AND {_FREE}",
        assign=f"""{_TOUCH}, claimed_by_id = %(reviewer)s, claimed_at = statement_timestamp(),
            claim_expires_at = statement_timestamp() + make_interval(secs => %(lease)s),
            claim_count = claim_count + 1""",
    ),
    states.RELEASE: Rule(guard=f"{_IN_TIME} AND {_HELD}", assign=f"{_TOUCH}, {_UNCLAIM}"),
    states.LAPSE: Rule(
        guard=f"{_IN_TIME} AND status = 'claimed' AND claim_expires_at <= statement_timestamp()",
        assign=f"updated_at = claim_expires_at, {_UNCLAIM}",
    ),
    states.ANSWER: Rule(
        guard=f"{_IN_TIME} AND ({_FREE} OR {_HELD})",
        assign=f"""{_TOUCH}, response_data = %(answer)s, response_by_id = %(reviewer)s,
            response_at = statement_timestamp(), claim_expires_at = NULL,
            claimed_by_id = CASE WHEN {_HELD} THEN claimed_by_id END,
            claimed_at = CASE WHEN {_HELD} THEN claimed_at END""",
    ),
    states.TIME_OUT: Rule(
        guard="status IN ('pending', 'claimed') AND timeout_at <= statement_timestamp()",
        assign=f"updated_at = timeout_at, response_data = default_response, {_UNCLAIM}",
    ),
    states.CANCEL: Rule(guard=f"{_IN_TIME} AND {_FREE}", assign=f"{_TOUCH}, {_UNCLAIM}"),
    states.WITHDRAW: Rule(
        guard=f"{_IN_TIME} AND status IN ('pending', 'claimed')", assign=f"{_TOUCH}, {_UNCLAIM}"
    ),
}

ONE = "id = %(id)s"
OF_LOOP = "loop_id = %(loop)s"
# With events and another sweep beside it a statement of 500 took 52-66 ms on two cores.
BATCH = 400
# An array is computed once. Joined instead, the planner may run the sub-select again for each row,
# and as the rows before it are no longer due, its LIMIT moves on: a batch of any size.
DUE = f"""id = ANY (ARRAY(SELECT id FROM reviews_request WHERE {OVERDUE_SQL}
    ORDER BY {DUE_AT_SQL} LIMIT {BATCH} FOR UPDATE SKIP LOCKED))"""  # noqa: S608
RUN_OUT = f"""id = ANY (ARRAY(SELECT id FROM reviews_request
    WHERE status = 'claimed' AND claim_expires_at <= statement_timestamp()
    ORDER BY claim_expires_at LIMIT {BATCH} FOR UPDATE SKIP LOCKED))"""  # noqa: S608


# The commit does not wait for the disk: what a crash of the server takes back, the next sweep does
# again, and whatever follows from it (an attempt of a delivery) waits for the disk with it.
_ASYNCHRONOUS = "(SELECT set_config('synchronous_commit', 'off', true)) IS NOT NULL"


def move(transition: Transition, which: str, *, is_sweep: bool = False, **params: Any) -> list[str]:
    """Moves the rows that `which` selects and the transition's guard admits; returns their ids.

    The same statement writes an outbox row for each that has a `callback_url`. `is_sweep` is for
    what comes out the same when it is done again.
    """
    rule = RULES[transition]
    update = (
        f"UPDATE reviews_request SET status = '{transition.target}', {rule.assign}"  # noqa: S608
        f" WHERE {which} AND {rule.guard}"
    )
    condition = _ASYNCHRONOUS if is_sweep else "TRUE"
    told = f", events AS ({events.EVENTS}), told AS ({ENQUEUE})" if transition.event else ""
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH moved AS ({update} RETURNING *){told} SELECT id FROM moved WHERE {condition}",  # noqa: S608
            {**params, "event": transition.event},
        )
        return [pk for (pk,) in cursor.fetchall()]
