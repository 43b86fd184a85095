"""The page of one question: its text, deadline and answer form, or its result."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils.translation import gettext as _

from portal import answer_form, polling, saved_answers, sidebar
from portal.access import read_own_answer
from portal.posted import NOTHING, Posted
from portal.progress import Progress, find_place, read_next
from reviews import outline, policy_words, proposal_table
from reviews.lifecycle import states
from reviews.models import Request
from reviews.prose import render_headline, render_prose
from reviews.queries.versions import read_versions
from web.guards import SignedInRequest
from web.humanize import format_time_left
from web.image_policy import render_with_image


def question_page(
    request: SignedInRequest,
    item: Request,
    *,
    posted: Posted = NOTHING,
    errors: Mapping[str, str] | None = None,
    comment_error: str = "",
) -> HttpResponse:
    """Renders the question with its form or its result, and with the posted values.

    The status is 422 for an invalid answer or comment, and 409 for an answer that came too late.
    """
    progress = Progress.read(request)
    sent = _read_sent_answer(request, progress)
    policy = policy_words.describe(item, request.user.pk)
    is_answerable = item.is_free_for(request.user.pk)
    context = {
        **_describe_request(item),
        "policy": policy,
        "fallback": policy_words.describe_fallback(policy),
        "is_mine": item.claimed_by_id == request.user.pk,
        "held_for": _count_held_seconds(item),
        "until": format_lease(item.claim_expires_at),
        "lease": settings.CLAIM_LEASE_SECONDS,
        **_describe_place(progress, request.user.pk, item.pk),
        "sent": sent,
        # only after the first answer
        "offers_notifications": sent is not None and progress.answered == 1,
        "watch": polling.issue_token(request),
        "version": _format_version(item, policy),
        "versions": read_versions(item),
    }
    saved = NOTHING if posted else saved_answers.read(request.session, item.pk, request.user)
    status = 200
    if is_answerable:
        context["was_saved"] = bool(saved)
        context["form"] = answer_form.build(
            item, posted or saved, errors=errors, comment_error=comment_error
        )
        if errors or comment_error:
            status, context["trouble"] = 422, _("Error:")
    else:
        context["draft"] = answer_form.format_draft(item, posted or saved)
        if request.method == "POST":
            status, context["trouble"] = 409, _("Not sent:")
    return render_with_image(
        request, "portal/request.html", context, image_url=item.image_url, status=status
    )


def _format_version(item: Request, policy: policy_words.Progress | None) -> str:
    """Returns the version of what the page shows."""
    shown = [each.answer.answered_at for each in policy.answers] if policy else []
    return polling.format_version(
        item.status, item.claimed_by_id, item.answers_received, max(shown, default=None)
    )


def _describe_request(item: Request) -> dict[str, Any]:
    """Builds the part of the context that is the same for every reader."""
    return {
        "item": item,
        "is_open": item.status in states.OPEN,
        "headline": render_headline(item.request_text),
        "question": render_prose(item.request_text),
        "context": outline.format_outline(item.context),
        "context_is_short": outline.is_short(item.context),
        "left": format_time_left((item.timeout_at - item.now).total_seconds()),
        "default": item.format_answer(item.default_response),
        "default_parts": item.list_parts(item.default_response),
        "answer": item.format_answer(item.response_data) if item.response_by_id else "",
        "answer_parts": item.list_parts(item.response_data) if item.response_by_id else [],
        "proposal": proposal_table.build(item),
    }


def _describe_place(progress: Progress, user_id: str, request_id: str) -> dict[str, Any]:
    """Builds the part of the context about the other questions, in two statements."""
    waiting = read_next(progress, user_id)
    return {
        "place": find_place(progress, waiting, request_id),
        "sidebar": sidebar.build_list(progress, waiting, request_id),
        "filter": progress.chosen,
        "progress_query": progress.build_query(),
    }


def _count_held_seconds(item: Request) -> int:
    """Returns the seconds until the claim expires, 0 without a claim."""
    until = item.claim_expires_at
    return 0 if until is None else int((until - item.now).total_seconds())


def format_lease(until: datetime | None) -> str:
    """Formats a lease as its end, to the microsecond, which identifies it; '' for none."""
    return until.isoformat() if until else ""


def _read_sent_answer(request: SignedInRequest, progress: Progress) -> dict[str, str] | None:
    """Returns the answer sent just before this page, or None; at most one statement."""
    if progress.sent is None:
        return None
    sent = read_own_answer(request.user.pk, progress.sent)
    if sent is None:
        return None
    return {"answer": sent.request.format_answer(sent.data), "id": sent.request_id}
