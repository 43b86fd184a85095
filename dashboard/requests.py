"""Requests: the list with its filters in the URL."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from dashboard import request_examples, request_list
from dashboard.access import behind, page
from dashboard.forms.requests import RequestFilterForm
from dashboard.loop_choices import offered_loops
from web.guards import SignedInRequest


@page
def requests(http: SignedInRequest) -> HttpResponse:
    loops = offered_loops(http.user.pk, http.GET.get("loop", ""))
    filters = RequestFilterForm(http.GET, loops=loops, auto_id="filter-%s")
    shown: dict[str, Any] = {"filters": filters, "loops": loops, "is_filtered": filters.is_set}
    if not filters.is_valid():
        shown["window"] = request_list.Window(rows=[])
        return render(http, "dashboard/requests/list.html", shown, status=422)
    chosen = request_list.Chosen(account_id=http.user.pk, **filters.cleaned_data)
    if chosen.is_counted:
        shown["window"] = request_list.read_page(chosen, http.GET.get("page", ""))
    else:
        shown["window"] = request_list.read_behind(chosen, behind(http))
    if not shown["window"].rows and not filters.is_set and loops:
        shown["tabs"] = request_examples.ask(loops[0].pk)
    return render(http, "dashboard/requests/list.html", shown)
