"""Claims: a reviewer claims, renews or releases a question."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from portal.access import action
from portal.answering import SeeOther
from portal.progress import Progress
from portal.question import format_lease
from reviews import services
from reviews.models import Request
from web.guards import SignedInRequest


@action
def claim(request: SignedInRequest, item: Request) -> HttpResponse:
    """Claims the question, or renews the reviewer's own claim."""
    try:
        services.claim_request(request=item, reviewer_id=request.user.pk)
    except (services.NotAReviewer, services.NotAsked):
        raise Http404 from None
    except services.TransitionLost:
        messages.warning(
            request, _("Too late: this question has changed. Here’s its current state.")
        )
    return redirect_back(request, item)


@action
def renew(request: SignedInRequest, item: Request) -> HttpResponse:
    """Renews the claim for an open page: 204 with its new lease, or 409 if the claim is lost."""
    until = services.renew_claim(request=item, reviewer_id=request.user.pk)
    if until is None:
        return HttpResponse(status=409)
    return HttpResponse(status=204, headers={"X-Lease": format_lease(until)})


@action
def release(request: SignedInRequest, item: Request) -> HttpResponse:
    """Releases the claim, by button or when the page is closed.

    A closing page sends its lease (`leaving`): if the page was opened again meanwhile, the claim
    has a newer lease, and stays.
    """
    if "leaving" in request.POST:
        if request.POST["leaving"] == format_lease(item.claim_expires_at):
            services.leave_claim(request=item, reviewer_id=request.user.pk)
        return HttpResponse(status=204)
    try:
        services.release_claim(request=item, reviewer_id=request.user.pk)
    except services.TransitionLost:
        messages.info(request, _("You’re no longer on it."))
    return redirect_back(request, item)


def redirect_back(request: SignedInRequest, item: Request) -> HttpResponse:
    page = reverse("review", kwargs={"request_id": item.pk})
    return SeeOther(page + Progress.read(request).build_query())
