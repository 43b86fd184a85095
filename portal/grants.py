"""The page of the calls that a person has allowed for a while."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from portal.access import page
from reviews import grants as services
from reviews.models import Grant
from reviews.queries.grants import read_grants
from web.guards import SignedInRequest, form_page
from web.keyset import read_cursor


@page
def grants(request: SignedInRequest) -> HttpResponse:
    """Lists the grants, the newest first, in three statements."""
    rows = Grant.objects.of_person(request.user.pk)
    window = read_grants(rows, after=read_cursor(request))
    return render(request, "portal/grants.html", {"window": window})


@form_page
def revoke(request: SignedInRequest, grant_id: str) -> HttpResponse:
    """Revokes a grant by POST; no call uses it once this has returned."""
    grant = Grant.objects.of_person(request.user.pk).filter(pk=grant_id).first()
    if grant is None:
        raise Http404
    if request.method != "POST":
        return redirect("my-grants")
    if services.revoke(grant, actor_id=request.user.pk):
        messages.success(request, _("Revoked. Each of these calls is asked about again."))
    else:
        messages.info(request, _("This grant was already revoked."))
    return redirect("my-grants")
