"""The inbox: open requests of the reviewer's loops, the most urgent first."""

import time
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from db.ids import normalize_id
from loops.models import Loop
from portal import polling, queue
from portal.access import page
from reviews.models import Request
from reviews.plain_text import extract_headline
from web.guards import SignedInRequest
from web.humanize import format_time_left

PER_PAGE = 50
MAX_LOOPS = 100  # in the filter


@page
def inbox(request: SignedInRequest) -> HttpResponse:
    """Renders the inbox in at most six statements: session, person, loops, state, count, rows."""
    since = time.time()
    loops = list(Loop.objects.of_member(request.user.pk).order_by("name", "id"))
    loop_filter = normalize_id(request.GET.get("loop", ""))
    chosen = next((loop for loop in loops if loop.pk == loop_filter), None)
    loop_id = chosen.pk if chosen else None
    # the fingerprint comes first: it settles what is due, and the next poll finds later changes
    version = polling.fingerprint(request.user.pk, loop_id)
    paginator = queue.build_paginator(
        request.user.pk, [loop.pk for loop in loops], loop_id, per_page=PER_PAGE
    )
    inbox_page = paginator.get_page(request.GET.get("page"))
    rows = [build_row(item) for item in inbox_page.object_list]
    free = (row["item"].pk for row in rows if row["item"].is_free_for(request.user.pk))
    return render(
        request,
        "portal/inbox.html",
        {
            "first": next(free, None),
            "page": inbox_page,
            "rows": rows,
            "loops": loops[:MAX_LOOPS] if len(loops) > 1 else [],
            "chosen": chosen,
            "is_member": bool(loops),
            "watch": polling.issue_token(request),
            "version": version,
            "since": f"{since:.3f}",
        },
    )


def build_row(item: Request) -> dict[str, Any]:
    left = format_time_left((item.timeout_at - item.now).total_seconds())
    return {"item": item, "left": left, "headline": extract_headline(item.request_text)}
