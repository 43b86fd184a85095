"""Reads how a loop's newest ended requests were decided, and how often several people agreed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection

from dashboard.loop_stats import MAX_ANSWERS, SPAN
from loops.models import Loop
from reviews import policy
from reviews.queries.decision_figures import ACTIONS as FIGURED
from reviews.queries.decision_figures import READ, Figures, build_figures
from reviews.response_types.approval.words import DONE_LABELS
from web.phrases import Phrase, say

_TIMED_OUT = "timed out"  # no action and no outcome
ACTIONS: Mapping[str, Phrase | str] = {**DONE_LABELS, _TIMED_OUT: say("Timed out")}
OUTCOMES: Mapping[str, Phrase | str] = {
    policy.DECIDED: say("Decided"),
    policy.VETOED: say("Ended by a veto"),
    policy.NO_AGREEMENT: say("No agreement"),
    policy.UNREACHABLE: say("Too few people left"),
    policy.DEFAULT: say("Timed out"),
}

# A decision is read from its beginning, which names the action: arguments may be long.
_NEWEST = f"""
(SELECT created_at, id, status, response_type = 'approval' AS is_approval,
        CASE WHEN response_type = 'approval' THEN left(response_data::text, 40) END AS beginning,
        CASE WHEN (policy->>'answers')::int > 1 THEN outcome END AS outcome,
        answers_received, answers_agreed
   FROM reviews_request
  WHERE loop_id = %(loop)s AND status = '{{}}' AND created_at > statement_timestamp() - %(span)s
  ORDER BY created_at DESC, id DESC LIMIT {MAX_ANSWERS:d})"""  # noqa: S608 (a number of ours)
_ENDED = f"""
WITH ended AS MATERIALIZED (
    SELECT * FROM ({_NEWEST.format("completed")} UNION ALL {_NEWEST.format("timeout")}) AS each
     ORDER BY created_at DESC, id DESC LIMIT {MAX_ANSWERS:d})
SELECT 'action', CASE status WHEN 'timeout' THEN '{_TIMED_OUT}'
                 ELSE substring(beginning FROM '"action":"([a-z]+)"') END, count(*), 0, 0
  FROM ended WHERE is_approval GROUP BY 2
 UNION ALL
SELECT 'outcome', outcome, count(*),
       coalesce(sum(answers_received) FILTER (WHERE answers_agreed IS NOT NULL), 0),
       coalesce(sum(answers_agreed), 0)
  FROM ended WHERE outcome IS NOT NULL GROUP BY 2
"""  # noqa: S608
_FIGURES = ", ".join(("tool", "is_all", "count", *FIGURED, "median", "opened", "quick"))
_BOTH = f"""
SELECT (SELECT json_agg(json_build_array(kind, name, count, received, agreed))
          FROM ({_ENDED}) AS each (kind, name, count, received, agreed)),
       (SELECT json_agg(json_build_array({_FIGURES})) FROM ({READ}) AS each ({_FIGURES}))
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Rate:
    """The number of requests with one outcome, and their share of all in percent."""

    label: Phrase | str
    count: int
    percent: int


@dataclass(frozen=True, slots=True)
class Decisions:
    """Rates of the actions of approvals, and of the outcomes of requests to several people; []
    without any. `agreed` of `answers` were equal to the outcome that answers had."""

    actions: list[Rate]
    outcomes: list[Rate]
    agreed: int
    answers: int

    @property
    def agreed_percent(self) -> int:
        return round(100 * self.agreed / self.answers)


def read_decisions(loop: Loop) -> tuple[Decisions, list[Figures]]:
    """Reads the decisions among the newest ended requests of the last 90 days, and the figures of
    approvals by tool. One statement."""
    params: dict[str, Any] = {"loop": loop.pk, "account": loop.creator_id, "span": SPAN}
    counts: dict[str, dict[str, int]] = {"action": {}, "outcome": {}}
    answers = agreed = 0
    with connection.cursor() as cursor:
        cursor.execute(_BOTH, params)
        ended, figures = cursor.fetchone()
    for kind, name, count, received, equal in ended or ():
        counts[kind][name] = count
        answers, agreed = answers + received, agreed + equal
    decisions = Decisions(
        _build_rates(counts["action"], ACTIONS),
        _build_rates(counts["outcome"], OUTCOMES),
        agreed=agreed,
        answers=answers,
    )
    return decisions, build_figures(figures or ())


def _build_rates(counts: Mapping[str, int], labels: Mapping[str, Phrase | str]) -> list[Rate]:
    total = sum(counts.values())
    return [
        Rate(label, counts.get(name, 0), round(100 * counts.get(name, 0) / total))
        for name, label in labels.items()
        if total
    ]
