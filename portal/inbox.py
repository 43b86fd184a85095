"""The inbox: what waits for me, across my loops, the most urgent first."""

import time
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from db.ids import normalize_id
from loops.models import Loop
from portal import polling, queue
from portal.access import page
from reviews.markdown import extract_headline
from reviews.models import Request
from web.guards import SignedInRequest
from web.humanize import format_countdown

PER_PAGE = 50
MAX_LOOPS = 100  # to choose from


@page
def inbox(request: SignedInRequest) -> HttpResponse:
    """At most six statements: session, person, loops, how many, which, and the fingerprint."""
    since = time.time()
    loops = list(Loop.objects.of_member(request.user.pk).order_by("name", "id"))
    wanted = normalize_id(request.GET.get("loop", ""))
    chosen = next((loop for loop in loops if loop.pk == wanted), None)
    loop_id = chosen.pk if chosen else None
    # first the fingerprint: it settles what is due, and what changes meanwhile the next poll finds
    version = polling.fingerprint(request.user.pk, loop_id)
    waiting = queue.pages(request.user.pk, [loop.pk for loop in loops], loop_id, per_page=PER_PAGE)
    context = waiting.get_page(request.GET.get("page"))
    rows = [row_of(item) for item in context.object_list]
    free = (row["item"].pk for row in rows if row["item"].is_free_for(request.user.pk))
    return render(
        request,
        "portal/inbox.html",
        {
            "first": next(free, None),
            "page": context,
            "rows": rows,
            "loops": loops[:MAX_LOOPS] if len(loops) > 1 else [],
            "chosen": chosen,
            "is_member": bool(loops),
            "watch": polling.token(request),
            "version": version,
            "since": f"{since:.3f}",
        },
    )


def row_of(item: Request) -> dict[str, Any]:
    left = format_countdown((item.timeout_at - item.now).total_seconds())
    return {"item": item, "left": left, "headline": extract_headline(item.request_text)}
