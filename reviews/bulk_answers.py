"""Gives one answer to several requests, each by the service and in the transaction of a single one.

Requests are answered together only if a person can mean the same with the answer to each: one loop,
one type and the same possible answers, for approvals also the same call and risk. Never critical
ones, nor those that need several answers.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from reviews import services
from reviews.lifecycle import states
from reviews.models import Request
from reviews.response_types import get_response_type
from reviews.response_types.base import BulkAnswer
from reviews.response_types.posted import unify_newlines

MAX_REQUESTS = 50

Key = tuple[Hashable, ...]


class Fate(StrEnum):
    """What became of a request that a person wanted to answer."""

    ANSWERED = "answered"
    MINE = "mine"  # the person had answered it before
    OTHERS = "others"
    CLAIMED = "claimed"
    ENDED = "ended"
    NOT_ALLOWED = "not allowed"


@dataclass(frozen=True, slots=True)
class Result:
    """A request as it is now, and what became of it."""

    request: Request
    fate: Fate


def list_answers(request: Request) -> list[BulkAnswer]:
    """Returns what may be answered to this request together with others; nothing for some."""
    if request.priority == Request.Priority.CRITICAL or request.needs_several:
        return []
    return get_response_type(request.response_type).list_bulk_answers(request.response_config)


def find_key(request: Request) -> Key | None:
    """Returns what is the same in requests that are answered together; None for a single one."""
    answers = tuple((each.value, each.label) for each in list_answers(request))
    kind, config = get_response_type(request.response_type), request.response_config
    if not answers:
        return None
    options = tuple(kind.list_values(config))
    return (request.loop_id, kind.name, answers, options, kind.get_bulk_subject(config))


def find_answer(request: Request, posted: str) -> BulkAnswer | None:
    """Returns the answer that a form has posted."""
    value = unify_newlines(posted)
    return next(
        (each for each in list_answers(request) if unify_newlines(each.value) == value), None
    )


def may_have_group(requests: Iterable[Request]) -> bool:
    """Tells whether two of these may be answered together, by columns that are always loaded."""
    found = Counter(
        (each.loop_id, each.response_type)
        for each in requests
        if each.status == states.PENDING
        and each.priority != Request.Priority.CRITICAL
        and get_response_type(each.response_type).takes_bulk_answers
    )
    return any(count > 1 for count in found.values())


def group(requests: Iterable[Request]) -> list[list[Request]]:
    """Groups requests that can be answered together, in their order; none stays alone."""
    groups: dict[Key, list[Request]] = {}
    for request in requests:
        key = find_key(request)
        if key is not None:
            groups.setdefault(key, []).append(request)
    return [each for each in groups.values() if len(each) > 1]


def answer_requests(
    requests: Sequence[Request], *, person_id: str, chosen: BulkAnswer, comment: str
) -> list[Result]:
    """Answers the requests one after another. What is answered stays so if a later one fails.

    They have one key, so the answer and the comment suit all or none. Raises InvalidComment.
    """
    return [_answer(each, person_id, chosen, comment) for each in requests]


def _answer(request: Request, person_id: str, chosen: BulkAnswer, comment: str) -> Result:
    try:
        is_new = services.answer_request(
            request=request, reviewer_id=person_id, answer=chosen.answer, comment=comment
        )
    except services.TransitionLost as lost:
        return Result(lost.request, judge(lost.request, person_id))
    except (services.NotAReviewer, services.NotAsked, Request.DoesNotExist):
        return Result(request, Fate.NOT_ALLOWED)
    return Result(request, Fate.ANSWERED if is_new else Fate.MINE)


def judge(request: Request, person_id: str) -> Fate:
    """Says why the person can no longer answer a request."""
    if request.status == states.COMPLETED:
        return Fate.MINE if request.response_by_id == person_id else Fate.OTHERS
    return Fate.CLAIMED if request.status == states.CLAIMED else Fate.ENDED
