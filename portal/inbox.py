"""The inbox: what waits for me, across my loops, the most urgent first."""

import time
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from db.ids import normalize_id
from loops.models import Loop
from portal import polling, queue
from portal.access import page
from reviews.lifecycle import states
from reviews.markdown import headline
from reviews.models import Request
from web.guards import SignedInRequest
from web.humanize import countdown

PER_PAGE = 50
MOST_LOOPS = 100  # to choose from


@page
def inbox(http: SignedInRequest) -> HttpResponse:
    """At most six statements: session, person, loops, how many, which, and the fingerprint."""
    since = time.time()
    loops = list(Loop.objects.of_member(http.user.pk).order_by("name", "id"))
    wanted = normalize_id(http.GET.get("loop", ""))
    chosen = next((loop for loop in loops if loop.pk == wanted), None)
    loop_id = chosen.pk if chosen else None
    # first the fingerprint: what changes meanwhile is noticed by the next poll
    version = polling.fingerprint(http.user.pk, loop_id)
    waiting = queue.pages(http.user.pk, [loop.pk for loop in loops], loop_id, per_page=PER_PAGE)
    shown = waiting.get_page(http.GET.get("page"))
    rows = [row_of(item) for item in shown.object_list]
    free = (row["item"].pk for row in rows if is_free(row, http))
    return render(
        http,
        "portal/inbox.html",
        {
            "first": next(free, None),
            "page": shown,
            "rows": rows,
            "loops": loops[:MOST_LOOPS] if len(loops) > 1 else [],
            "chosen": chosen,
            "is_member": bool(loops),
            "watch": polling.token(http),
            "version": version,
            "since": f"{since:.3f}",
        },
    )


def row_of(item: Request) -> dict[str, Any]:
    seen = item.as_seen()
    left = countdown((seen.timeout_at - seen.now).total_seconds())
    return {"item": seen, "left": left, "headline": headline(seen.request_text)}


def is_free(row: dict[str, Any], http: SignedInRequest) -> bool:
    item: Request = row["item"]
    return item.status == states.PENDING or item.claimed_by_id == http.user.pk
