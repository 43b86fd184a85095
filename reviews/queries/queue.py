"""The SQL of a reviewer's open requests: critical first, then the nearest deadline.

The first rows of each of the person's loops are read from the index `request_inbox` and merged, so
that the cost of a page does not grow with the queue. LIMITs are written into the SQL as numbers:
for a parameter the planner expects a tenth of the table.
"""

from loops.active_members import ACTIVE_MEMBERS
from reviews.lifecycle.conditions import OPEN
from reviews.lifecycle.settling import Scope

# `(user_id, loop_id)` of the person's active memberships. Parameters: `person`, and `loop`: the id
# of one loop, or null for all.
MINE = f"""
SELECT m.user_id, m.loop_id FROM {ACTIVE_MEMBERS}
 WHERE m.user_id = %(person)s AND m.loop_id = coalesce(%(loop)s, m.loop_id)"""  # noqa: S608
ORDER = "priority_rank DESC, timeout_at, id"


def build_hidden_sql(mine: str = f"({MINE})") -> str:
    """Builds the SQL of the open requests `(id, status)` that wait for others than the person.

    By their policy the person is not asked, or has answered. It reads a small index of its own.
    """
    return f"""
SELECT r.id, r.status FROM {mine} AS mine JOIN reviews_request r USING (loop_id)
 WHERE r.policy IS NOT NULL AND {OPEN}
   AND (mine.user_id <> ALL (r.eligible) OR EXISTS (
        SELECT FROM reviews_answer a WHERE a.request_id = r.id AND a.person_id = mine.user_id))"""  # noqa: S608


def build_not_hidden_sql(mine: str = f"({MINE})") -> str:
    """Builds the condition that `r` does not wait for others than the person.

    The planner hashes NOT IN, so that the cost of a row does not grow with the hidden requests.
    """
    return f"r.id NOT IN (SELECT id FROM ({build_hidden_sql(mine)}) AS hidden)"  # noqa: S608


def build_first_sql(count: int, which: str = OPEN, mine: str = f"({MINE})") -> str:
    """Builds the SQL of the first `count` requests open for the person, `(id, user_id, …)`.

    It has the parameters of MINE. Without `which` it reads only the index. `which` has to imply
    that the request is open. Do not add OPEN to it: the planner would treat the two as independent,
    underestimate the rows, and choose another index.
    """
    return f"""
SELECT merged.*, user_id
  FROM {mine} AS mine
 CROSS JOIN LATERAL (
       SELECT id, priority_rank, timeout_at FROM reviews_request r
        WHERE loop_id = mine.loop_id AND {which}
          AND {build_not_hidden_sql(mine)}
        ORDER BY {ORDER} LIMIT {count:d}) AS merged
 ORDER BY {ORDER} LIMIT {count:d}"""  # noqa: S608 (nothing in it comes from outside)


def build_scope(user_id: str, loop_id: str | None, mine: str = f"({MINE})") -> Scope:
    """Builds the scope of what the person may review, in all of their loops or in one."""
    where = f"r.loop_id IN (SELECT loop_id FROM {mine} AS mine)"  # noqa: S608
    return Scope(where, {"person": user_id, "loop": loop_id})
