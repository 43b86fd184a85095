"""The page of one request: its question, result and history, with cancel and feedback."""

import json
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from dashboard import reach, timeline
from dashboard.access import action, find_request, page
from dashboard.forms.requests import FeedbackForm, build_initial, find_unknown_fields
from reviews import outline, policy_words, proposal_table, services
from reviews.lifecycle import events, states
from reviews.models import Request
from reviews.prose import render_prose
from reviews.queries.versions import read_versions
from reviews.receipts import services as receipts
from reviews.representation import represent_to_creator
from web.form_recovery import recoverable, refill
from web.guards import SignedInRequest
from web.image_policy import render_with_image
from webhooks.models import Delivery

MAX_DELIVERIES = 20
MAX_JSON_LENGTH = 4000  # characters; a link leads to the full text
MAX_OUTLINE_LENGTH = 2000  # characters of JSON; a list takes eight times as much HTML


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
    """Renders the page of the request. A form passed in was rejected."""
    claims = range(item.claim_count, max(0, item.claim_count - MAX_DELIVERIES), -1)
    mine = Delivery.objects.of_account(request.user.pk).about(
        events.format_occurrences(item.pk, claims=claims)
    )
    deliveries = list(mine.newest_first().defer("body")[:MAX_DELIVERIES])
    current_feedback = read_feedback(item)
    form = feedback_form or FeedbackForm(
        initial=build_initial(current_feedback), auto_id="feedback-%s"
    )
    refill(request, form, "request-feedback", request_id=item.pk)
    text = format_as_api(item)
    approval = receipts.read_approval(item)
    context: dict[str, Any] = {
        "item": item,
        "question": render_prose(item.request_text),
        "context": format_context(item.context),
        "configuration": shorten(format_json(item.response_config)),
        "proposal": proposal_table.build(item),
        "default": item.format_answer(item.default_response),
        "is_open": item.status in states.OPEN,
        "policy": policy_words.describe(item, request.user.pk),
        "reach": reach.build(item),
        "versions": read_versions(item),
        "steps": timeline.build(item, deliveries, approval.receipt if approval else None),
        "approval": approval,
        "deliveries": deliveries,
        "json": shorten(text),
        "is_cut": len(text) > MAX_JSON_LENGTH,
        "current_feedback": current_feedback,
        "feedback_form": form,
    }
    if item.status in (states.COMPLETED, states.TIMEOUT):
        context["answer"] = item.format_answer(item.response_data)
        context["answer_parts"] = item.list_parts(item.response_data)
    return render_with_image(
        request, "dashboard/requests/show.html", context, image_url=item.image_url, status=status
    )


@page
def as_api(request: SignedInRequest, request_id: str) -> HttpResponse:
    """Returns the full JSON of the request, as the API returns it."""
    text = format_as_api(find_request(request, request_id))
    return HttpResponse(text, content_type="application/json; charset=utf-8")


@action("request")
def cancel(request: SignedInRequest, request_id: str) -> HttpResponse:
    item = find_request(request, request_id)
    try:
        services.cancel_request(request_id=item.pk, account_id=request.user.pk)
        messages.success(request, _("Request cancelled."))
    except services.TransitionLost as lost:
        sentences = {
            states.CLAIMED: _("Someone is answering it right now, so it can’t be cancelled.")
        }
        default = _("It can no longer be cancelled. Here’s its current state.")
        messages.warning(request, sentences.get(lost.request.status, default))
    return redirect("request", request_id=item.pk)


@recoverable
@action("request")
def feedback(request: SignedInRequest, request_id: str) -> HttpResponse:
    item = find_request(request, request_id)
    if not services.may_have_feedback(item):
        messages.warning(
            request, _("You can give feedback only on an answer. This request has none.")
        )
        return redirect("request", request_id=item.pk)
    current_feedback = read_feedback(item)
    form = FeedbackForm(
        request.POST, initial=build_initial(current_feedback), auto_id="feedback-%s"
    )
    if not form.is_valid():
        return request_page(request, item, feedback_form=form, status=422)
    merged = {**find_unknown_fields(current_feedback), **form.build_feedback()}
    try:
        services.add_feedback(request=item, feedback=merged)
    except Request.DoesNotExist:
        raise Http404 from None
    messages.success(request, _("Feedback saved."))
    return redirect(f"{reverse('request', kwargs={'request_id': item.pk})}#feedback")


def read_feedback(item: Request) -> dict[str, Any] | None:
    feedback = getattr(item, "feedback", None)
    return None if feedback is None else feedback.body


def format_as_api(item: Request) -> str:
    """Formats the request as GET /api/requests/{id} returns it."""
    return format_json(represent_to_creator(item))


def format_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def shorten(text: str) -> str:
    return text if len(text) <= MAX_JSON_LENGTH else text[:MAX_JSON_LENGTH] + "\n…"


def format_context(value: Any) -> Any:
    """Formats the context as a list, or as shortened JSON if it is long."""
    if not value:
        return ""
    text = format_json(value)
    return outline.format_outline(value) if len(text) <= MAX_OUTLINE_LENGTH else shorten(text)
