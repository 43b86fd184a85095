"""Reads what a policy needs, and has it decide about locked requests."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from loops.models import Membership
from reviews import policy
from reviews.models import Answer, Request
from reviews.response_types import get_response_type


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome of a request, the answer that it is, and how many answers are equal to that.

    Both are None where the outcome is the default.
    """

    outcome: str
    answer: Answer | None = None
    agreed: int | None = None


def read_members(loop_id: str) -> set[str]:
    """Reads the ids of those who may answer in the loop, if the policy of a request lets them."""
    return set(
        Membership.objects.active().filter(loop_id=loop_id).values_list("user_id", flat=True)
    )


def decide(
    request: Request, answers: Sequence[Answer], members: Collection[str]
) -> Decision | None:
    """Returns what the answers decide by the policy of a locked request, None if nothing yet.

    The answers are all there are, the oldest first; `members` are those of its loop.
    """
    rule = policy.read(request.policy)
    kind = get_response_type(request.response_type)
    ballots = [kind.build_ballot(answer.data, rule.veto) for answer in answers]
    able = {*members} & {*(request.eligible or ())} - {answer.person_id for answer in answers}
    result = policy.decide(rule, ballots, len(able))
    if result is None:
        return None
    if result.ballot is None:
        return Decision(result.outcome)
    key = ballots[result.ballot].key
    agreed = sum(ballot.key == key for ballot in ballots)
    return Decision(result.outcome, answers[result.ballot], agreed)
