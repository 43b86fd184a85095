"""The page of the loops that a person reviews for, and leaving one."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from loops.models import Loop, Membership
from portal.access import page
from reviews import services
from web.bidi import isolate
from web.guards import SignedInRequest, action

MAX_LOOPS = 500


@page
def my_loops(request: SignedInRequest) -> HttpResponse:
    mine = Membership.objects.active().filter(user=request.user)
    rows = mine.select_related("loop__creator").order_by("loop__name", "loop_id")[:MAX_LOOPS]
    return render(request, "portal/my_loops.html", {"memberships": rows})


@action("my-loops", without="loop_id")
def leave(request: SignedInRequest, loop_id: str) -> HttpResponse:
    """Ends the membership and releases the person's claims. Creators cannot leave."""
    mine = Loop.objects.of_member(request.user.pk).exclude(creator_id=request.user.pk)
    loop = mine.filter(pk=loop_id).first()
    try:
        if loop is None:
            raise Membership.DoesNotExist
        services.remove_member(
            loop_id=loop.pk,
            account_id=loop.creator_id,
            member_id=request.user.pk,
            actor_id=request.user.pk,
        )
        messages.success(request, _("You have left %(name)s.") % {"name": isolate(loop.name)})
    except (Loop.DoesNotExist, Membership.DoesNotExist):
        messages.info(
            request, _("You can’t leave this loop: you’re not a member, or you created it.")
        )
    return redirect("my-loops")
