"""The download of a loop's decisions: one line of JSON for each request that has ended."""

from typing import Any

from django.contrib import messages
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard.access import find_loop, page
from dashboard.downloads import Download, respond
from dashboard.forms.spans import SpanForm
from reviews import exports
from reviews.queries.decisions import Span, write_lines
from web.days import midnight
from web.guards import SignedInRequest


@page
def as_lines(request: SignedInRequest, loop_id: str) -> Any:  # in parts, which is no HttpResponse
    loop = find_loop(request, loop_id)
    form = SpanForm(request.GET)
    if not form.is_valid():
        messages.warning(request, _("Choose a first and a last day, or neither."))
        return redirect("loop", loop_id=loop.pk)
    since, until = form.cleaned_data["since"], form.cleaned_data["until"]
    try:
        lease = exports.begin(
            account_id=request.user.pk, action="request.exported", subject=f"JSONL, {loop.name}"
        )
    except exports.AlreadyExporting:
        messages.warning(request, _("Another export is running. Try again when it has finished."))
        return redirect("loop", loop_id=loop.pk)
    span = Span(
        loop.pk,
        loop.creator_id,
        since=since and midnight(since),
        until=until and midnight(until, days_later=1),
    )
    return respond(
        Download(request, write_lines(span), lease),
        content_type="text/jsonl",
        name=f"decisions-{timezone.localdate():%Y-%m-%d}.jsonl",
    )
