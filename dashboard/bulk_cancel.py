"""Cancels the selected requests after a confirmation page."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard import request_list
from dashboard.access import action, select_requests
from db.ids import normalize_id
from reviews import bulk
from reviews.lifecycle import states
from web.guards import SignedInRequest


@action("requests")
def cancel_selected(request: SignedInRequest) -> HttpResponse:
    """Shows the requests to cancel; with `confirmed`, cancels them and returns to the list."""
    query = f"?{request.GET.urlencode()}".rstrip("?")
    back = redirect(reverse("requests") + query)
    typed = request.POST.getlist("selected")[: request_list.PER_PAGE]
    ids = {found for each in typed if (found := normalize_id(each))}
    mine = select_requests(request).filter(pk__in=ids)
    if "confirmed" in request.POST:
        outcome = bulk.cancel_requests(account_id=request.user.pk, request_ids=sorted(ids))
        say = messages.success if outcome.cancelled else messages.warning
        say(request, describe(outcome))
        return back
    rows = [each for each in request_list.read_rows(mine) if each.status == states.PENDING]
    if not rows:
        messages.info(request, _("Select pending requests to cancel first."))
        return back
    context = {"rows": rows, "query": query}
    return render(request, "dashboard/requests/cancel.html", context)


def describe(outcome: bulk.Cancelled) -> str:
    """Describes the result: "12 cancelled, 3 had already ended"."""
    parts = [_("%(count)s cancelled") % {"count": outcome.cancelled}]
    if outcome.ended:
        parts.append(_("%(count)s had already ended") % {"count": outcome.ended})
    if outcome.claimed:
        claimed = ngettext(
            "%(count)s is being answered right now",
            "%(count)s are being answered right now",
            outcome.claimed,
        )
        parts.append(claimed % {"count": outcome.claimed})
    return f"{', '.join(parts)}."
