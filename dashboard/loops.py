"""Pages of loops: the list, one loop, and the forms that create, edit and delete it."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from dashboard import loop_stats, request_examples
from dashboard.access import action, find_loop, form_page, loop_gone, page, read_cursor
from dashboard.forms import policy
from dashboard.forms.loops import LOOP_FIELDS, EditForm, LoopForm
from dashboard.forms.sections import is_open
from dashboard.loop_page import loop_page
from loops import services
from loops.models import Loop
from loops.retention import deletes_more
from reviews import services as review_services
from web import form_tokens
from web.bidi import isolate
from web.form_recovery import recoverable, refill
from web.guards import SignedInRequest
from web.reauthentication import confirmed, require_confirmation
from web.sanitize import is_same_name

PURPOSE = "loop"


@page
def loops(request: SignedInRequest) -> HttpResponse:
    window = loop_stats.read_loops(request.user.pk, after=read_cursor(request))
    context: dict[str, Any] = {"window": window}
    if not window.rows and window.is_first:
        context["tabs"] = request_examples.build_loop_tabs()
    return render(request, "dashboard/loops/list.html", context)


@recoverable
@form_page
def create(request: SignedInRequest) -> HttpResponse:
    initial = {"once": form_tokens.issue(PURPOSE, request.user.pk)}
    form = LoopForm(request.POST or None, initial=initial)
    refill(request, form, "new-loop")
    if not form.is_valid():
        status = 422 if form.is_bound else 200
        context = {"form": form, "is_policy_open": is_open(form, policy.FIELDS)}
        return render(request, "dashboard/loops/new.html", context, status=status)
    fields = {name: form.cleaned_data[name] for name in LOOP_FIELDS}
    loop_id = form_tokens.read(form.cleaned_data["once"], PURPOSE, request.user.pk)
    try:
        loop = services.create_loop(owner_id=request.user.pk, loop_id=loop_id, **fields)
    except IntegrityError:  # this form was sent before
        return redirect("loop", loop_id=loop_id)
    messages.success(request, _("Loop created. Next, invite reviewers."))
    return redirect("loop", loop_id=loop.pk)


@page
def show(request: SignedInRequest, loop_id: str) -> HttpResponse:
    return loop_page(request, find_loop(request, loop_id))


@recoverable
@form_page
def edit(request: SignedInRequest, loop_id: str) -> HttpResponse:
    loop = find_loop(request, loop_id)
    initial = EditForm.build_initial(loop)
    form = EditForm(
        request.POST or None, initial=initial, current_icon=loop.icon, stored=loop.policy
    )
    refill(request, form, "edit-loop", loop_id=loop.pk)
    if not form.is_valid():
        context = {
            "form": form,
            "loop": loop,
            "is_policy_open": is_open(form, policy.FIELDS),
            "count": loop_stats.count_heads(loop),
            "sends_mail": settings.REQUIRE_CONFIRMED_ADDRESSES,
        }
        status = 422 if form.is_bound else 200
        return render(request, "dashboard/loops/edit.html", context, status=status)
    changes = form.find_changes(loop)
    if deletes_more(loop, changes):
        require_confirmation(request)
    if changes:
        try:
            review_services.update_loop(loop=loop, changes=changes)
        except Loop.DoesNotExist:
            raise loop_gone(loop) from None
        messages.success(request, _("Saved."))
    return redirect("loop", loop_id=loop.pk)


@action("edit-loop")
@confirmed
def delete(request: SignedInRequest, loop_id: str) -> HttpResponse:
    loop = find_loop(request, loop_id)
    if not is_same_name(request.POST.get("typed", ""), loop.name):
        messages.error(request, _("Nothing was deleted. The name doesn’t match."))
        return redirect(f"{reverse('edit-loop', kwargs={'loop_id': loop.pk})}#delete")
    try:
        review_services.delete_loop(loop_id=loop.pk, account_id=loop.creator_id)
    except Loop.DoesNotExist:
        raise loop_gone(loop) from None
    messages.success(
        request,
        _("%(name)s was deleted, and its open requests were cancelled.")
        % {"name": isolate(loop.name)},
    )
    return redirect("loops")
