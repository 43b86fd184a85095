"""Counts how a loop's newest approvals were decided, by the tool that asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection

SPAN = timedelta(days=90)
LOOKED_AT = 2_000  # ended requests, the newest
MOST = 500  # approvals among them that are counted: their proposals may be long
QUICK = 2  # seconds from opening to the answer, in which a person may not have read the question
MAX_TOOLS = 20  # tools with figures of their own, the most frequent first
ACTIONS = ("approve", "edit", "reject", "respond", "timeout")

# The action is at the beginning of a decision: arguments may be long.
_NEWEST = f"""
(SELECT id, created_at, status, response_type, response_by_id, response_at, response_config,
        response_data
   FROM reviews_request
  WHERE loop_id = %(loop)s AND creator_id = %(account)s AND status = '{{}}'
    AND created_at > statement_timestamp() - %(span)s
  ORDER BY created_at DESC, id DESC LIMIT {LOOKED_AT})"""  # noqa: S608 (a number of ours)
READ = f"""
WITH decided AS MATERIALIZED (
    SELECT r.response_config->'proposal'->>'name' AS tool,
           CASE WHEN status = 'timeout' THEN 'timeout' ELSE
               substring(left(response_data::text, 40) FROM '"action":"([a-z]+)"') END AS action,
           extract(epoch FROM r.response_at - v.opened_at)::float AS took
      FROM (SELECT * FROM (SELECT * FROM ({_NEWEST.format("completed")}
                     UNION ALL {_NEWEST.format("timeout")}) AS each
                     ORDER BY created_at DESC, id DESC LIMIT {LOOKED_AT}) AS ended
             WHERE response_type = 'approval'
             ORDER BY created_at DESC, id DESC LIMIT {MOST}) AS r
      LEFT JOIN reviews_viewer v ON r.status = 'completed' AND v.request_id = r.id
            AND v.person_id = r.response_by_id
)
SELECT coalesce(tool, ''), GROUPING(tool) = 1, count(*),
       {", ".join(f"count(*) FILTER (WHERE action = '{action}')" for action in ACTIONS)},
       percentile_cont(0.5) WITHIN GROUP (ORDER BY took),
       count(took), count(*) FILTER (WHERE took <= {QUICK})
  FROM decided GROUP BY GROUPING SETS ((tool), ()) ORDER BY 2 DESC, 3 DESC, 1
 LIMIT {MAX_TOOLS} + 1
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Figures:
    """How many approvals of a tool ended with each action; `tool` is None for all tools together.

    `opened` of them were answered by somebody who had opened them, half of these within
    `median_seconds` after that, and `quick` of these within QUICK seconds.
    """

    tool: str | None
    count: int
    actions: Mapping[str, int]
    median_seconds: float | None
    opened: int
    quick: int

    def share(self, action: str) -> float:
        """The share of an action, from 0 to 1."""
        return self.actions[action] / self.count

    @property
    def quick_share(self) -> float | None:
        """The share of answers that may have been given without reading; None without any."""
        return self.quick / self.opened if self.opened else None


def read_figures(loop_id: str, *, account_id: str) -> list[Figures]:
    """Reads the figures of all tools together, and then of each; [] without approvals.

    They are from the newest MOST approvals of the last 90 days.
    """
    params: dict[str, Any] = {"loop": loop_id, "account": account_id, "span": SPAN}
    with connection.cursor() as cursor:
        cursor.execute(READ, params)
        return build_figures(cursor.fetchall())


def build_figures(rows: Sequence[Sequence[Any]]) -> list[Figures]:
    """Builds the figures from the rows of READ."""
    found = []
    for tool, is_all, count, *rest in rows:
        *counts, median, opened, quick = rest
        actions = dict(zip(ACTIONS, counts, strict=True))
        found.append(Figures(None if is_all else tool, count, actions, median, opened, quick))
    return found if rows and rows[0][2] else []
