"""Reads what a policy needs, and has it decide about a locked request."""

from dataclasses import dataclass

from django.db import connection

from loops.active_members import ACTIVE_MEMBERS
from reviews import policy
from reviews.models import Answer, Request
from reviews.response_types import get_response_type

_ABLE = f"""
SELECT count(*) FROM {ACTIVE_MEMBERS}
 WHERE m.loop_id = %(loop)s AND m.user_id = ANY (%(eligible)s) AND m.user_id <> ALL (%(answered)s)
"""  # noqa: S608 (nothing in it comes from outside)


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome of a request, the answer that it is, and how many answers are equal to that.

    Both are None where the outcome is the default.
    """

    outcome: str
    answer: Answer | None = None
    agreed: int | None = None


def read_answers(request: Request) -> list[Answer]:
    """Reads the answers to a request, the oldest first."""
    return list(request.answers.in_order())


def decide(request: Request, answers: list[Answer]) -> Decision | None:
    """Returns what the answers decide by the policy of a locked request, None if nothing yet."""
    rule = policy.read(request.policy)
    kind = get_response_type(request.response_type)
    ballots = [kind.build_ballot(answer.data, rule.veto) for answer in answers]
    with connection.cursor() as cursor:
        answered = [answer.person_id for answer in answers]
        cursor.execute(
            _ABLE,
            {"loop": request.loop_id, "eligible": request.eligible, "answered": answered},
        )
        (able,) = cursor.fetchone()
    result = policy.decide(rule, ballots, able)
    if result is None:
        return None
    if result.ballot is None:
        return Decision(result.outcome)
    key = ballots[result.ballot].key
    agreed = sum(ballot.key == key for ballot in ballots)
    return Decision(result.outcome, answers[result.ballot], agreed)
