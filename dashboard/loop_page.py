"""The page of one loop: its invite link, its members, and examples of a request."""

from typing import Any

from django.conf import settings
from django.core.paginator import Page, Paginator
from django.http import HttpResponse
from django.shortcuts import render

from accounts.confirmed import lacks_confirmation
from dashboard import loop_stats, request_examples
from dashboard.decision_stats import read_decisions
from dashboard.forms.loops import InviteForm
from dashboard.forms.spans import SpanForm
from loops.models import Loop
from reviews.policy import read
from reviews.policy_words import describe_rule
from reviews.queries.decision_figures import ACTIONS, QUICK, Figures
from web.form_recovery import refill
from web.guards import SignedInRequest
from web.humanize import format_count, format_duration


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
    """Returns how approvals were decided, by tool; its shares are in percent."""
    rows = [
        {
            "tool": each.tool,
            "count": each.count,
            "shares": [round(100 * each.share(action)) for action in ACTIONS],
            "median": None if each.median_seconds is None else format_duration(each.median_seconds),
            "quick": None if each.quick_share is None else round(100 * each.quick_share),
        }
        for each in found
    ]
    # the row of all tools comes last, and only beside several
    shown = [*rows[1:], rows[0]] if len(rows) > 2 else rows[1:]
    return {"rows": shown, "all": rows[0] if rows else None, "quick_seconds": QUICK}


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
