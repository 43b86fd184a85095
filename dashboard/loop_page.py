"""The page of one loop: its invite link, its members, and examples of a request."""

from typing import Any

from django.conf import settings
from django.core.paginator import Page, Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from accounts.confirmed import lacks_confirmation
from dashboard import loop_stats, request_examples
from dashboard.decision_stats import read_decisions
from dashboard.forms.loops import InviteForm
from dashboard.forms.spans import SpanForm
from loops.models import Loop
from reviews.policy import read
from reviews.policy_words import describe_rule
from reviews.queries.decision_figures import ACTIONS, QUICK, Figures
from reviews.response_types.approval.names import EDIT
from reviews.response_types.approval.words import DONE_LABELS
from web.form_recovery import refill
from web.guards import SignedInRequest
from web.humanize import format_count, format_duration
from web.languages import translate
from web.phrases import Phrase, say

LABELS: dict[str, Phrase | str] = {
    **DONE_LABELS,
    EDIT: say("Changed"),
    "timeout": say("Timed out"),
}


def loop_page(
    request: SignedInRequest,
    loop: Loop,
    *,
    invite_form: InviteForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """Renders the page of the loop. A form passed in was rejected."""
    count = loop_stats.count_heads(loop)
    form = invite_form or InviteForm(auto_id="invite-%s")
    refill(request, form, "invite-member", loop_id=loop.pk)
    records = loop_stats.read_records(loop)
    answered = sum(record.answered for record in records.values())
    decisions, figures = read_decisions(loop)
    context = {
        "loop": loop,
        "count": count,
        "rule": loop.policy and describe_rule(read(loop.policy)),
        "page": read_members(request, loop, records, total=count.members),
        "newest": format_count(loop_stats.MAX_ANSWERS)
        if answered == loop_stats.MAX_ANSWERS
        else None,
        "decisions": decisions,
        "figures": describe_figures(figures),
        "decisions_form": SpanForm(auto_id="decisions-%s"),
        "invite_form": form,
        "must_confirm": lacks_confirmation(request.user),
        "tabs": request_examples.build_ask_tabs(loop.pk),
        "site_url": settings.SITE_URL,
    }
    return render(request, "dashboard/loops/show.html", context, status=status)


def describe_figures(found: list[Figures]) -> dict[str, Any]:
    """Returns the columns and rows of the table of approvals by tool."""
    # the row of all tools comes last, and only beside several
    shown = [*found[1:], found[0]] if len(found) > 2 else found[1:]
    columns = [
        _("Approvals"),
        *(translate(LABELS[action]) for action in ACTIONS),
        _("Median time"),
        _("Within %(seconds)s s") % {"seconds": QUICK},
    ]
    rows = [
        {"tool": each.tool, "cells": list(zip(columns, list_cells(each), strict=True))}
        for each in shown
    ]
    return {"columns": columns, "rows": rows, "quick_seconds": QUICK}


def list_cells(figures: Figures) -> list[str | None]:
    """Lists what the table says about one tool, or about all; None without an answer."""
    median, quick = figures.median_seconds, figures.quick_share
    return [
        format_count(figures.count),
        *(f"{round(100 * figures.share(action))} %" for action in ACTIONS),
        None if median is None else format_duration(median),
        None if quick is None else f"{round(100 * quick)} %",
    ]


def read_members(
    request: SignedInRequest, loop: Loop, records: dict[str, loop_stats.Record], *, total: int
) -> Page[Any]:
    """Returns the page of members named in the URL. Each row has `member`, `record`, `is_me`."""
    paginator = Paginator(loop.memberships.with_people().in_order(), loop_stats.MEMBERS_PER_PAGE)
    paginator.count = total  # otherwise the paginator counts again
    page: Page[Any] = paginator.get_page(request.GET.get("page"))
    page.object_list = [
        {
            "member": member,
            "record": records.get(member.member_id, loop_stats.NO_RECORD),
            "is_me": member.member_id == loop.creator_id,
        }
        for member in page.object_list
    ]
    return page
