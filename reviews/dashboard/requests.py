"""Requests: the list with its filters in the URL."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from accounts.pages import SignedInRequest
from reviews.dashboard import examples, ledger
from reviews.dashboard.access import behind, page
from reviews.dashboard.offered import offered_loops
from reviews.dashboard.request_forms import RequestFilterForm


@page
def requests(http: SignedInRequest) -> HttpResponse:
    loops = offered_loops(http.user.pk, http.GET.get("loop", ""))
    filters = RequestFilterForm(http.GET, loops=loops, auto_id="filter-%s")
    shown: dict[str, Any] = {"filters": filters, "loops": loops, "is_filtered": filters.is_set}
    if not filters.is_valid():
        shown["window"] = ledger.Window(rows=[])
        return render(http, "dashboard/requests/list.html", shown, status=422)
    chosen = ledger.Chosen(account_id=http.user.pk, **filters.cleaned_data)
    if chosen.is_counted:
        shown["window"] = ledger.read_page(chosen, http.GET.get("page", ""))
    else:
        shown["window"] = ledger.read_behind(chosen, behind(http))
    if not shown["window"].rows and not filters.is_set and loops:
        shown["tabs"] = examples.ask(loops[0].pk)
    return render(http, "dashboard/requests/list.html", shown)
