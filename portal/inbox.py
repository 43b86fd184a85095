"""The inbox: open requests of the reviewer's loops, the most urgent first."""

from dataclasses import replace
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from loops.models import Loop
from portal import polling
from portal.access import page
from portal.inbox_filter import InboxFilter
from reviews import bulk_answers
from reviews.models import Request
from reviews.plain_text import extract_headline
from reviews.queries import filtered_questions
from reviews.queries.open_questions import Queue, build_paginator
from reviews.response_types import TYPES
from web.guards import SignedInRequest
from web.humanize import format_count, format_time_left

PER_PAGE = 50
MAX_LOOPS = 100  # in the filter


@page
def inbox(request: SignedInRequest) -> HttpResponse:
    """Renders the inbox in at most seven statements: session, person, loops, state, number (two
    for words), rows."""
    loops = list(Loop.objects.of_member(request.user.pk).order_by("name", "id"))
    chosen = read_filter(request, loops)
    # the version first: it settles due requests, and the next poll finds later changes
    version = polling.read_inbox_version(request.user.pk, chosen.loop or None)
    queue = Queue(request.user.pk, [loop.pk for loop in loops], chosen)
    inbox_page = build_paginator(queue, per_page=PER_PAGE).get_page(request.GET.get("page"))
    rows = [build_row(item, chosen) for item in inbox_page.object_list]
    free = (row["url"] for row in rows if row["item"].is_free_for(request.user.pk))
    return render(
        request,
        "portal/inbox.html",
        {
            "first": next(free, None),
            "page": inbox_page,
            "rows": rows,
            **_describe_filter(chosen, loops),
            "is_partial": queue.is_partial,
            "most_scanned": format_count(filtered_questions.MAX_SCANNED),
            "is_member": bool(loops),
            "offers_several": bulk_answers.may_have_group(inbox_page.object_list),
            "watch": polling.issue_token(request),
            "version": version.fingerprint,
            "since": f"{version.read_at:.6f}",
        },
    )


def read_filter(request: SignedInRequest, loops: list[Loop]) -> InboxFilter:
    """Reads the filter; a loop that the person is not in counts as missing."""
    chosen = InboxFilter.read(request)
    is_mine = any(loop.pk == chosen.loop for loop in loops)
    return chosen if is_mine else replace(chosen, loop="")


def _describe_filter(chosen: InboxFilter, loops: list[Loop]) -> dict[str, Any]:
    """Builds the part of the context with the choices and the chosen values of the filter."""
    listed = loops[:MAX_LOOPS] if len(loops) > 1 else []
    return {
        "filter": chosen,
        "chosen": next((loop for loop in loops if loop.pk == chosen.loop), None),
        "every_loop": replace(chosen, loop="").build_query(),
        "loops": [(loop, replace(chosen, loop=loop.pk).build_query()) for loop in listed],
        "types": TYPES.values(),
        "page_query": chosen.build_query(page=""),
    }


def build_row(item: Request, chosen: InboxFilter) -> dict[str, Any]:
    left = format_time_left((item.timeout_at - item.now).total_seconds())
    return {
        "item": item,
        "left": left,
        "headline": extract_headline(item.request_text),
        "url": chosen.build_url(item.pk),
    }
