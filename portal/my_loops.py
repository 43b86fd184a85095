"""The loops that somebody reviews for, and leaving one."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from loops.models import Loop, Membership
from portal.access import page
from reviews import services
from web.guards import SignedInRequest

MOST = 500


@page
def my_loops(http: SignedInRequest) -> HttpResponse:
    mine = Membership.objects.active().filter(user=http.user)
    rows = mine.select_related("loop__creator").order_by("loop__name", "loop_id")[:MOST]
    return render(http, "portal/my_loops.html", {"memberships": rows})


@never_cache
@login_required
def leave(http: SignedInRequest, loop_id: str) -> HttpResponse:
    """Ends the membership; what the person holds is given back. Creators stay."""
    if http.method in ("GET", "HEAD"):
        return redirect("my-loops")
    if http.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    mine = Loop.objects.of_member(http.user.pk).exclude(creator_id=http.user.pk)
    loop = mine.filter(pk=loop_id).first()
    try:
        if loop is None:
            raise Membership.DoesNotExist
        services.remove_member(
            loop_id=loop.pk,
            account_id=loop.creator_id,
            member_id=http.user.pk,
            actor_id=http.user.pk,
        )
        messages.success(http, f"You have left {loop.name}.")
    except (Loop.DoesNotExist, Membership.DoesNotExist):
        messages.info(http, "You can’t leave that loop. You’re not in it, or you created it.")
    return redirect("my-loops")
