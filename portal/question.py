"""The page of one question: what is asked, by when, how to answer, or what became of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils.html import format_html, strip_tags
from django.utils.safestring import SafeString, mark_safe

from portal import answer_form, polling, saved_answers
from portal.progress import Sitting, find_place
from reviews import markdown, outline
from reviews.lifecycle import states
from reviews.models import Request
from web.guards import SignedInRequest
from web.humanize import format_countdown
from web.image_policy import render_with_image


def question_page(
    request: SignedInRequest, item: Request, *, typed: Sequence[str] = (), error: str = ""
) -> HttpResponse:
    """The question with its form, or with what has become of it; `typed` is kept either way.

    422 where the answer was refused, 409 where it came too late.
    """
    sitting = Sitting.of(request)
    sent = _sent(request, sitting)
    is_answerable = item.is_free_for(request.user.pk)
    context = {
        **_asked(item),
        "is_mine": item.claimed_by_id == request.user.pk,
        "held_for": _seconds_held(item),
        "until": lease_text(item.claim_expires_at),
        "lease": settings.CLAIM_LEASE_SECONDS,
        "place": find_place(sitting, request.user.pk, item.pk),
        "sitting": sitting.query(),
        "sent": sent,
        "offers_notifications": sent is not None and sitting.answered == 1,  # once a sitting
        "watch": polling.token(request),
        "version": polling.version(item.status, item.claimed_by_id),
    }
    status = 200
    if is_answerable:
        kept_answer = [] if typed else saved_answers.read(request.session, item.pk)
        context["was_kept"] = bool(kept_answer)
        context["form"] = answer_form.build(item, typed or kept_answer, error)
        status = 422 if error else status
    else:
        draft = typed or saved_answers.read(request.session, item.pk)
        context["draft"] = answer_form.draft_in_words(item, draft)
        status = 409 if request.method == "POST" else status
    return render_with_image(
        request, "portal/request.html", context, image_url=item.image_url, status=status
    )


def _asked(item: Request) -> dict[str, Any]:
    """What everybody sees alike."""
    return {
        "item": item,
        "is_open": item.status in states.OPEN,
        "question": _question(item.request_text),
        "context": outline.format_outline(item.context),
        "context_is_short": outline.is_short(item.context),
        "left": format_countdown((item.timeout_at - item.now).total_seconds()),
        "default": item.format_answer(item.default_response),
        "answer": item.format_answer(item.response_data) if item.response_by_id else "",
    }


def _question(text: str) -> SafeString:
    """The text as HTML; as it was written where Markdown would make nothing of it."""
    html = markdown.render(text)
    if not strip_tags(html).strip():
        return format_html("<p>{}</p>", text)
    return mark_safe(html)  # noqa: S308 (it is cleaned)


def _seconds_held(item: Request) -> int:
    """How long whoever holds it holds it still."""
    until = item.claim_expires_at
    return 0 if until is None else int((until - item.now).total_seconds())


def lease_text(until: datetime | None) -> str:
    """Which lease a page knows of: its end, to the microsecond, as no other lease has it."""
    return until.isoformat() if until else ""


def _sent(request: SignedInRequest, sitting: Sitting) -> dict[str, str] | None:
    """The answer that this page follows, in words; one statement where there is one."""
    if sitting.sent is None:
        return None
    mine = Request.objects.reviewed_by(request.user.pk).filter(response_by_id=request.user.pk)
    columns = ("request_text", "response_type", "response_config", "response_data")
    before = mine.only(*columns).filter(pk=sitting.sent).first()
    if before is None:
        return None
    return {"answer": before.format_answer(before.response_data), "id": before.pk}
