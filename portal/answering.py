"""The pages of a question: show it, take its answer, and go on to the next one."""

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse

from portal import saved_answers
from portal.access import action, find_request, page, read_own_answer
from portal.answer_form import read_page
from portal.grant_form import read_terms
from portal.posted import Posted
from portal.progress import Progress, find_unskipped, read_next
from portal.question import question_page
from reviews import services, viewers
from reviews.comments import InvalidComment
from reviews.lifecycle import states
from reviews.models import Request
from reviews.prose import render_headline
from reviews.queries.open_questions import read_waiting
from reviews.response_types import InvalidAnswer, InvalidFields, Unconfirmed, get_response_type
from reviews.response_types.base import ANSWER
from web.guards import SignedInRequest
from web.languages import translate


class SeeOther(HttpResponseRedirect):
    """A redirect that the browser follows with GET."""

    status_code = 303


@page
def show(request: SignedInRequest, request_id: str) -> HttpResponse:
    item = find_request(request, request_id)
    if request.method == "GET" and item.status in states.OPEN:
        skipped = Progress.read(request).skipped
        viewers.record_opened(item, request.user.pk, skipped=skipped)
    return question_page(request, item)


@action
def answer(request: SignedInRequest, item: Request) -> HttpResponse:
    posted = Posted.read(request)
    kind = get_response_type(item.response_type)
    try:
        value = kind.parse_form(item.response_config, posted.answer, read_page())
        services.answer_request(
            request=item,
            reviewer_id=request.user.pk,
            answer=value,
            comment=posted.comment,
            terms=read_terms(request, item),
        )
    except (InvalidAnswer, InvalidComment, services.InvalidGrant) as error:
        return reject(request, item, posted, error)
    except (services.NotAReviewer, services.NotAsked):
        raise Http404 from None
    except services.TransitionLost as lost:
        return question_page(request, lost.request, posted=posted)
    saved_answers.remove(request.session, item.pk)
    return redirect_to_next(request, item)


def reject(
    request: SignedInRequest,
    item: Request,
    posted: Posted,
    error: InvalidAnswer | InvalidComment | services.InvalidGrant,
) -> HttpResponse:
    """Shows the question with the posted values and their error, and renews the claim.

    Changes that their sender has not seen yet are shown, with a button that sends them.
    """
    if services.renew_claim(request=item, reviewer_id=request.user.pk):
        item = find_request(request, item.pk)
    if isinstance(error, InvalidComment):
        return question_page(request, item, posted=posted, comment_error=translate(error.args[0]))
    if isinstance(error, Unconfirmed):
        return question_page(request, item, posted=posted)
    errors = error.errors if isinstance(error, InvalidFields) else {ANSWER: error.args[0]}
    said = {name: translate(sentence) for name, sentence in errors.items()}
    return question_page(request, item, posted=posted, errors=said)


def redirect_to_next(request: SignedInRequest, item: Request) -> HttpResponse:
    """Redirects to the most urgent question that was not skipped, or to the last page."""
    progress = Progress.read(request).after_answer(item.pk)
    following = find_unskipped(progress, read_next(progress, request.user.pk).ids)
    if following:
        return SeeOther(progress.build_url(following))
    return SeeOther(reverse("done", kwargs={"request_id": item.pk}) + progress.build_query())


@page
def done(request: SignedInRequest, request_id: str) -> HttpResponse:
    """Shows the last page: only skipped questions are left, or none that match the filter."""
    sent = read_own_answer(request.user.pk, request_id)
    if sent is None:
        raise Http404
    item = sent.request
    progress, waiting = Progress.read(request), read_waiting(request.user.pk, limit=1)
    context = {
        "item": item,
        "sent": sent,
        "answer": item.format_answer(sent.data),
        "answer_parts": item.list_parts(sent.data),
        "headline": render_headline(item.request_text),
        "answered": max(1, progress.answered),
        "was_skipped": bool(progress.skipped),
        "waiting": waiting.total,
        "next": next(iter(waiting.ids), None),
    }
    return render(request, "portal/done.html", context)
