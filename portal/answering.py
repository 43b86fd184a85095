"""Answering: the question, the answer, and on to the next."""

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from portal import saved_answers
from portal.access import action, find_request, page, reviewed
from portal.progress import Sitting, first_unseen, waiting_ids
from portal.question import question_page
from reviews import services
from reviews.markdown import extract_headline
from reviews.models import Request
from reviews.response_types import InvalidAnswer, get_response_type
from web.guards import SignedInRequest


class SeeOther(HttpResponseRedirect):
    """What a form's answer leads to, to be fetched with GET."""

    status_code = 303


@page
def show(request: SignedInRequest, request_id: str) -> HttpResponse:
    return question_page(request, find_request(request, request_id))


@action
def answer(request: SignedInRequest, item: Request) -> HttpResponse:
    typed = request.POST.getlist("answer")
    try:
        value = get_response_type(item.response_type).parse_answer(item.response_config, typed)
        services.answer_request(request=item, reviewer_id=request.user.pk, answer=value)
    except InvalidAnswer as fault:
        if services.renew_claim(request=item, reviewer_id=request.user.pk):
            item = find_request(request, item.pk)
        return question_page(request, item, typed=typed, error=str(fault))
    except services.NotAReviewer:
        raise Http404 from None
    except services.TransitionLost as lost:
        return question_page(request, lost.request, typed=typed)
    saved_answers.forget(request.session, item.pk)
    return go_on(request, item)


def go_on(request: SignedInRequest, item: Request) -> HttpResponse:
    """To the most urgent question that was not skipped, or to the end of the sitting."""
    sitting = Sitting.of(request).after_answer(item.pk)
    following = first_unseen(sitting, waiting_ids(request.user.pk))
    if following:
        return SeeOther(sitting.url_of(following))
    return SeeOther(reverse("done", kwargs={"request_id": item.pk}) + sitting.query())


@page
def done(request: SignedInRequest, request_id: str) -> HttpResponse:
    """What was sent, where nothing is left to answer but what was skipped."""
    mine = reviewed(request).filter(response_by_id=request.user.pk)
    item = find_request(request, request_id, among=mine)
    sitting, waiting = Sitting.of(request), waiting_ids(request.user.pk)
    context = {
        "item": item,
        "answer": item.format_answer(item.response_data),
        "headline": extract_headline(item.request_text),
        "answered": max(1, sitting.answered),
        "was_skipped": bool(sitting.skipped),
        "waiting": len(waiting),
        "next": waiting[0] if waiting else None,
    }
    return render(request, "portal/done.html", context)
