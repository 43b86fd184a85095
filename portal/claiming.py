"""Holding a question for a while, so that nobody does the same work twice."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.urls import reverse

from portal.access import action
from portal.answering import SeeOther
from portal.progress import Sitting
from portal.question import lease_text
from reviews import services
from reviews.models import Request
from web.guards import SignedInRequest


@action
def claim(request: SignedInRequest, item: Request) -> HttpResponse:
    """Takes the question, or holds it longer."""
    try:
        services.claim_request(request=item, reviewer_id=request.user.pk)
    except services.NotAReviewer:
        raise Http404 from None
    except services.TransitionLost:
        messages.warning(request, "That came too late. Here’s its current state.")
    return back_to(request, item)


@action
def renew(request: SignedInRequest, item: Request) -> HttpResponse:
    """What the open page asks for by itself: 204 and which lease it has now, or 409 where the
    claim is gone."""
    until = services.renew_claim(request=item, reviewer_id=request.user.pk)
    if until is None:
        return HttpResponse(status=409)
    return HttpResponse(status=204, headers={"X-Lease": lease_text(until)})


@action
def release(request: SignedInRequest, item: Request) -> HttpResponse:
    """By button, or by the page as it is left, which says the lease that it knew (`leaving`): it
    may be there again in a moment, and its new lease may have come here first."""
    if "leaving" in request.POST:
        if request.POST["leaving"] == lease_text(item.claim_expires_at):
            services.leave_claim(request=item, reviewer_id=request.user.pk)
        return HttpResponse(status=204)
    try:
        services.release_claim(request=item, reviewer_id=request.user.pk)
    except services.TransitionLost:
        messages.info(request, "You were no longer on it.")
    return back_to(request, item)


def back_to(request: SignedInRequest, item: Request) -> HttpResponse:
    page = reverse("review", kwargs={"request_id": item.pk})
    return SeeOther(page + Sitting.of(request).query())
