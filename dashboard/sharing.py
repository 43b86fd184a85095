"""Sharing a loop: the printable sheet with its code, and a new code."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from dashboard.access import action, find_loop, loop_gone, page
from loops import services
from loops.models import Loop
from web.guards import SignedInRequest


@page
def sheet(request: SignedInRequest, loop_id: str) -> HttpResponse:
    context = {"loop": find_loop(request, loop_id), "site_url": settings.SITE_URL}
    return render(request, "dashboard/loops/sheet.html", context)


@action("loop")
def rotate(request: SignedInRequest, loop_id: str) -> HttpResponse:
    loop = find_loop(request, loop_id)
    try:
        services.rotate_invite_code(loop=loop)
    except Loop.DoesNotExist:
        raise loop_gone(loop) from None
    messages.success(request, _("The loop has a new code and link. The old ones no longer work."))
    return redirect("loop", loop_id=loop.pk)
