"""Says in words what a policy asks for, how far it is, and what became of it."""

import json
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reviews import policy
from reviews.lifecycle import states
from reviews.models import Answer, Request
from reviews.proposal_table import write_exactly
from reviews.response_types.approval import APPROVAL
from reviews.response_types.approval.names import EDIT
from web.sanitize import show_invisible

MAX_LENGTH = 200  # characters of an argument that somebody changed


@dataclass(frozen=True, slots=True)
class Given:
    """One person's answer, for a page."""

    answer: Answer
    text: str
    parts: list[tuple[str, str]]  # the titles and values of its fields, if it has several


@dataclass(frozen=True, slots=True)
class Progress:
    """The policy of a request, for a page. `mine` is the reader's own answer, if any."""

    rule: str
    state: str
    is_asked: bool
    mine: Given | None
    answers: list[Given]  # of all, where they may be seen
    several: bool


def describe(request: Request, reader_id: str) -> Progress | None:
    """Describes the policy of a request to a reader; None without one. One statement."""
    if request.policy is None:
        return None
    rule = policy.read(request.policy)
    answers = request.list_readable_answers(reader_id)
    given = [_build_given(request, answer) for answer in answers]
    return Progress(
        rule=describe_rule(rule),
        state=describe_state(request, rule),
        is_asked=request.asks(reader_id),
        mine=next((each for each in given if each.answer.person_id == reader_id), None),
        answers=given if request.shows_answers else [],
        several=rule.needs_several,
    )


def _build_given(request: Request, answer: Answer) -> Given:
    """Builds an answer with its parts; of an edit also what may run, which decides who agrees."""
    text, parts = request.format_answer(answer.data), request.list_parts(answer.data)
    if request.response_type == APPROVAL and answer.data["action"] == EDIT:
        arguments = answer.data.get("arguments", {})  # retention removes them
        changed = [name for name in answer.data["edited"] if name in arguments]
        parts = [(show_invisible(name), _shorten(arguments[name])) for name in changed]
        parts = parts and [(_("Decision"), text), *parts]
    return Given(answer, text, parts)


def _shorten(value: Any) -> str:
    """Writes an argument in one short text: the beginning of a long one."""
    is_nested = isinstance(value, dict | list) and value
    text = json.dumps(value, ensure_ascii=False) if is_nested else str(value)
    if len(text) > MAX_LENGTH:
        return show_invisible(f"{text[:MAX_LENGTH]}…")
    return show_invisible(text) if is_nested else write_exactly(value)


def describe_rule(rule: policy.Policy) -> str:
    """Says how the answers make an outcome."""
    count: dict[str, Any] = {"count": rule.answers}
    match rule.rule:
        case policy.MAJORITY:
            return _("More than half of %(count)s people have to give the same answer.") % count
        case policy.UNANIMOUS:
            return _("%(count)s people have to give the same answer.") % count
        case policy.MEDIAN:
            return _("%(count)s people answer, and the middle answer decides.") % count
    return _("The first answer decides.")


def describe_fallback(progress: Progress | None) -> str:
    """Says when the default answer is used; the answer follows."""
    if progress and progress.several:
        return _("If they don’t decide in time:")
    return _("If nobody answers in time:")


def describe_state(request: Request, rule: policy.Policy) -> str:
    """Says how many have answered, or what became of their answers."""
    match request.outcome:
        case policy.DECIDED:
            return _("Their answers have decided.")
        case policy.VETOED:
            return _("One answer was a veto, which ended the question.")
        case policy.NO_AGREEMENT:
            return _("They did not agree, so the default answer was used.")
        case policy.UNREACHABLE:
            return _("Too few people were left to answer, so the default answer was used.")
        case policy.DEFAULT:
            return _("Too few answered in time, so the default answer was used.")
    if request.status == states.CANCELLED or not rule.needs_several:
        return ""
    numbers = {"received": request.answers_received, "count": rule.answers}
    return (
        ngettext(
            "%(received)s of %(count)s has answered.",
            "%(received)s of %(count)s have answered.",
            request.answers_received,
        )
        % numbers
    )
