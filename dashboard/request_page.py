"""The page of one request: what was asked, what became of it, and what to do about it."""

import json
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.safestring import mark_safe

from api.serializers.requests import RequestDetail
from dashboard import timeline
from dashboard.access import action, find_request, page
from dashboard.forms.requests import FeedbackForm, initial_feedback, unknown_feedback
from reviews import markdown, outline, services
from reviews.lifecycle import events, states
from reviews.models import Request
from web.form_recovery import recoverable, refill
from web.guards import SignedInRequest
from web.image_policy import render_with_image
from webhooks.models import Delivery

MAX_DELIVERIES = 20
MAX_JSON_LENGTH = 4000  # characters; the whole of it is behind a link
MAX_OUTLINE_LENGTH = 2000  # a list of it takes eight times as much HTML


@page
def show(request: SignedInRequest, request_id: str) -> HttpResponse:
    return request_page(request, find_request(request, request_id))


def request_page(
    request: SignedInRequest,
    item: Request,
    *,
    feedback_form: FeedbackForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """A form that is given was refused."""
    claims = range(item.claim_count, max(0, item.claim_count - MAX_DELIVERIES), -1)
    mine = Delivery.objects.of_account(request.user.pk).about(
        events.format_occurrences(item.pk, claims=claims)
    )
    deliveries = list(mine.newest_first().defer("body")[:MAX_DELIVERIES])
    given = feedback_of(item)
    form = feedback_form or FeedbackForm(initial=initial_feedback(given), auto_id="feedback-%s")
    refill(request, form, "request-feedback", request_id=item.pk)
    written = as_json(item)
    context: dict[str, Any] = {
        "item": item,
        "question": mark_safe(markdown.render(item.request_text)),  # noqa: S308 (it is cleaned)
        "context": outline_of(item.context),
        "configuration": short(pretty(item.response_config)),
        "default": item.format_answer(item.default_response),
        "is_open": item.status in states.OPEN,
        "steps": timeline.build(item, deliveries),
        "deliveries": deliveries,
        "json": short(written),
        "is_cut": len(written) > MAX_JSON_LENGTH,
        "given": given,
        "feedback_form": form,
    }
    if item.status in (states.COMPLETED, states.TIMEOUT):
        context["answer"] = item.format_answer(item.response_data)
    return render_with_image(
        request, "dashboard/requests/show.html", context, image_url=item.image_url, status=status
    )


@page
def as_api(request: SignedInRequest, request_id: str) -> HttpResponse:
    """The JSON by itself, however long."""
    text = as_json(find_request(request, request_id))
    return HttpResponse(text, content_type="application/json; charset=utf-8")


@action("request")
def cancel(request: SignedInRequest, request_id: str) -> HttpResponse:
    item = find_request(request, request_id)
    try:
        services.cancel_request(request_id=item.pk, account_id=request.user.pk)
        messages.success(request, "Request cancelled.")
    except services.TransitionLost as lost:
        words = {states.CLAIMED: "Someone is answering it right now, so it can’t be cancelled."}
        usual = "It can no longer be cancelled. Here’s its current state."
        messages.warning(request, words.get(lost.request.status, usual))
    return redirect("request", request_id=item.pk)


@recoverable
@action("request")
def feedback(request: SignedInRequest, request_id: str) -> HttpResponse:
    item = find_request(request, request_id)
    if not services.may_have_feedback(item):
        messages.warning(request, "You can give feedback only on an answer. This request has none.")
        return redirect("request", request_id=item.pk)
    given = feedback_of(item)
    form = FeedbackForm(request.POST, initial=initial_feedback(given), auto_id="feedback-%s")
    if not form.is_valid():
        return request_page(request, item, feedback_form=form, status=422)
    whole = {**unknown_feedback(given), **form.feedback()}
    services.add_feedback(request=item, feedback=whole)
    messages.success(request, "Feedback saved.")
    return redirect(f"{reverse('request', kwargs={'request_id': item.pk})}#feedback")


def feedback_of(item: Request) -> dict[str, Any] | None:
    found = getattr(item, "feedback", None)
    return None if found is None else found.body


def as_json(item: Request) -> str:
    """What GET /api/requests/{id} shows of it."""
    return pretty(RequestDetail(item).data)


def pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def short(text: str) -> str:
    return text if len(text) <= MAX_JSON_LENGTH else text[:MAX_JSON_LENGTH] + "\n…"


def outline_of(value: Any) -> Any:
    """The context for people; as JSON where it would be a page of its own."""
    if not value:
        return ""
    text = pretty(value)
    return outline.format_outline(value) if len(text) <= MAX_OUTLINE_LENGTH else short(text)
