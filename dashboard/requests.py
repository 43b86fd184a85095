"""Requests: the list with its filters in the URL."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from dashboard import request_examples, request_list
from dashboard.access import page, read_cursor
from dashboard.forms.requests import RequestFilterForm
from dashboard.loop_choices import offered_loops
from web.guards import SignedInRequest


@page
def requests(request: SignedInRequest) -> HttpResponse:
    loops = offered_loops(request.user.pk, request.GET.get("loop", ""))
    filters = RequestFilterForm(request.GET, loops=loops, auto_id="filter-%s")
    context: dict[str, Any] = {"filters": filters, "loops": loops, "is_filtered": filters.is_set}
    if not filters.is_valid():
        context["window"] = request_list.Window(rows=[])
        return render(request, "dashboard/requests/list.html", context, status=422)
    chosen = request_list.Chosen(account_id=request.user.pk, **filters.cleaned_data)
    if chosen.is_counted:
        context["window"] = request_list.read_page(chosen, request.GET.get("page", ""))
    else:
        context["window"] = request_list.read_behind(chosen, read_cursor(request))
    if not context["window"].rows and not filters.is_set and loops:
        context["tabs"] = request_examples.ask(loops[0].pk)
    return render(request, "dashboard/requests/list.html", context)
