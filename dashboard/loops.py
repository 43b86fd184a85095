"""Loops: the list, the page of one, and what is done to it."""

from typing import Any

from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from dashboard import loop_stats, request_examples
from dashboard.access import Stale, action, behind, find_loop, form_page, page
from dashboard.forms.loops import LoopForm
from dashboard.loop_page import loop_page
from loops import services
from loops.models import Loop
from reviews import services as review_services
from web import form_tokens
from web.form_recovery import keeping, refill
from web.guards import SignedInRequest

PURPOSE = "loop"


@page
def loops(http: SignedInRequest) -> HttpResponse:
    window = loop_stats.read_loops(http.user.pk, behind=behind(http))
    shown: dict[str, Any] = {"window": window}
    if not window.rows and window.is_first:
        shown["tabs"] = request_examples.create_loop()
    return render(http, "dashboard/loops/list.html", shown)


@keeping
@form_page
def create(http: SignedInRequest) -> HttpResponse:
    initial = {"once": form_tokens.issue(PURPOSE, http.user.pk)}
    form = LoopForm(http.POST or None, initial=initial)
    refill(http, form, "new-loop")
    if not form.is_valid():
        status = 422 if form.is_bound else 200
        return render(http, "dashboard/loops/new.html", {"form": form}, status=status)
    fields = {name: form.cleaned_data[name] for name in ("name", "description", "icon")}
    loop_id = form_tokens.read(form.cleaned_data["once"], PURPOSE, http.user.pk)
    try:
        made = services.create_loop(owner_id=http.user.pk, loop_id=loop_id, **fields)
    except IntegrityError:  # sent before
        return redirect("loop", loop_id=loop_id)
    messages.success(http, "Loop created. Next, invite reviewers.")
    return redirect("loop", loop_id=made.pk)


@page
def show(http: SignedInRequest, loop_id: str) -> HttpResponse:
    return loop_page(http, find_loop(http, loop_id))


@keeping
@form_page
def edit(http: SignedInRequest, loop_id: str) -> HttpResponse:
    loop = find_loop(http, loop_id)
    initial = {"name": loop.name, "description": loop.description, "icon": loop.icon}
    form = LoopForm(http.POST or None, initial=initial, kept=loop.icon)
    refill(http, form, "edit-loop", loop_id=loop.pk)
    if not form.is_valid():
        shown = {"form": form, "loop": loop, "count": loop_stats.count_heads(loop)}
        status = 422 if form.is_bound else 200
        return render(http, "dashboard/loops/edit.html", shown, status=status)
    changes = form.changes(loop)
    if changes:
        try:
            services.update_loop(loop=loop, changes=changes)
        except Loop.DoesNotExist:
            raise Stale(f"The loop {loop.name} was deleted.") from None
        messages.success(http, "Saved.")
    return redirect("loop", loop_id=loop.pk)


@action("edit-loop")
def delete(http: SignedInRequest, loop_id: str) -> HttpResponse:
    loop = find_loop(http, loop_id)
    if http.POST.get("typed", "").split() != loop.name.split():
        messages.error(http, "Nothing was deleted. The name doesn’t match.")
        return redirect(f"{reverse('edit-loop', kwargs={'loop_id': loop.pk})}#delete")
    try:
        review_services.delete_loop(loop_id=loop.pk, account_id=loop.creator_id)
    except Loop.DoesNotExist:
        raise Stale(f"The loop {loop.name} was deleted.") from None
    messages.success(http, f"{loop.name} was deleted, and its open requests were cancelled.")
    return redirect("loops")
