"""The page where people download what is stored of them, and delete their account."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.emails import is_address
from accounts.notices import read_origin
from dashboard import loop_stats
from dashboard.access import action, page
from db.time_limits import limited
from reviews import erasing, exports
from reviews.person_export import export
from web.guards import SignedInRequest
from web.reauthentication import confirmed

PART = 64 * 1024  # characters of the file that are sent at a time


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
    response = StreamingHttpResponse(
        PersonFile(export(request.user), lease), content_type="application/json; charset=utf-8"
    )
    name = f"review-loop-{timezone.localdate():%Y-%m-%d}.json"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@action("your-data")
@confirmed
def delete(request: SignedInRequest) -> HttpResponse:
    if not is_address(request.POST.get("typed", ""), request.user.email):
        messages.error(request, _("Nothing was deleted. The address doesn’t match."))
        return redirect(f"{reverse('your-data')}#delete")
    person = request.user
    with suppress(erasing.AlreadyErased):  # by a form in another tab, this very moment
        erasing.begin(person=person, origin=read_origin(request))
    logout(request)
    messages.success(request, _("Your account was deleted. The rest of it goes within minutes."))
    return redirect("account_login")


class PersonFile:
    """The parts of the file, each as large as PART. Closing it ends the lease."""

    def __init__(self, pieces: Iterator[str], lease: exports.Lease) -> None:
        self._pieces, self._lease = pieces, lease

    def __iter__(self) -> Iterator[str]:
        while True:
            with limited(settings.WEB_DATABASE_SECONDS):
                self._lease.renew()
                part = self._read_part()
            if not part:
                return
            yield part

    def close(self) -> None:
        with limited(settings.WEB_DATABASE_SECONDS):
            self._lease.end()

    def _read_part(self) -> str:
        part: list[str] = []
        length = 0
        for piece in self._pieces:
            part.append(piece)
            length += len(piece)
            if length >= PART:
                break
        return "".join(part)
