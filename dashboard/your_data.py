"""The page where people download their data and delete their account."""

from collections.abc import Generator, Iterator
from contextlib import suppress
from typing import Any

from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.emails import is_address
from accounts.notices import read_origin
from dashboard import loop_stats
from dashboard.access import action, page
from dashboard.downloads import Download, respond
from reviews import erasing, exports
from reviews.person_export import export
from web.guards import SignedInRequest
from web.reauthentication import confirmed

PART = 64 * 1024  # characters of the file in one part


@page
def your_data(request: SignedInRequest) -> HttpResponse:
    loops, requests = loop_stats.count_own(request.user.pk)
    context = {"loops": loops, "requests": requests}
    return render(request, "dashboard/your_data.html", context)


@action("your-data")
@confirmed
def download(request: SignedInRequest) -> Any:  # a response in parts is no HttpResponse
    try:
        lease = exports.begin(account_id=request.user.pk, action="account.exported")
    except exports.AlreadyExporting:
        messages.warning(request, _("Another export is running. Try again when it has finished."))
        return redirect("your-data")
    return respond(
        Download(request, join_pieces(export(request.user)), lease),
        content_type="application/json",
        name=f"review-loop-{timezone.localdate():%Y-%m-%d}.json",
    )


@action("your-data")
@confirmed
def delete(request: SignedInRequest) -> HttpResponse:
    if not is_address(request.POST.get("typed", ""), request.user.email):
        messages.error(request, _("Nothing was deleted. The address doesn’t match."))
        return redirect(f"{reverse('your-data')}#delete")
    person = request.user
    with suppress(erasing.AlreadyErased):  # a form in another tab has just done so
        erasing.begin(person=person, origin=read_origin(request))
    logout(request)
    messages.success(request, _("Your account was deleted. The rest of it goes within minutes."))
    return redirect("account_login")


def join_pieces(pieces: Iterator[str]) -> Generator[str, None, None]:
    """Joins the pieces of a file to parts as large as PART."""
    part: list[str] = []
    length = 0
    for piece in pieces:
        part.append(piece)
        length += len(piece)
        if length >= PART:
            yield "".join(part)
            part, length = [], 0
    yield "".join(part)
