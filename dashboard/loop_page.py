"""The page of one loop: how to share it, who is in it, how to ask."""

from typing import Any

from django.conf import settings
from django.core.paginator import Page, Paginator
from django.http import HttpResponse
from django.shortcuts import render

from dashboard import loop_stats, request_examples
from dashboard.forms.loops import InviteForm
from loops.models import Loop
from web.form_recovery import refill
from web.guards import SignedInRequest


def loop_page(
    request: SignedInRequest,
    loop: Loop,
    *,
    invite_form: InviteForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """A form that is given was refused."""
    count = loop_stats.count_heads(loop)
    form = invite_form or InviteForm(auto_id="invite-%s")
    refill(request, form, "invite-member", loop_id=loop.pk)
    records = loop_stats.read_records(loop)
    looked_at = sum(record.answered for record in records.values())
    context = {
        "loop": loop,
        "count": count,
        "page": read_members(request, loop, records, total=count.members),
        "newest": f"{loop_stats.MAX_ANSWERS:,}" if looked_at == loop_stats.MAX_ANSWERS else None,
        "invite_form": form,
        "tabs": request_examples.ask(loop.pk),
        "site_url": settings.SITE_URL,
    }
    return render(request, "dashboard/loops/show.html", context, status=status)


def read_members(
    request: SignedInRequest, loop: Loop, records: dict[str, loop_stats.Record], *, total: int
) -> Page[Any]:
    """The page of members that the URL asks for; each row has `member`, `record`, `is_me`."""
    paginator = Paginator(
        loop.memberships.select_related("user").in_order(), loop_stats.MEMBERS_PER_PAGE
    )
    paginator.count = total  # it would count again
    page: Page[Any] = paginator.get_page(request.GET.get("page"))
    page.object_list = [
        {
            "member": member,
            "record": records.get(member.member_id, loop_stats.NOTHING),
            "is_me": member.member_id == loop.creator_id,
        }
        for member in page.object_list
    ]
    return page
