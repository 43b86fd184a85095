"""Requests: the list with its filters in the URL."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from accounts.pages import SignedInRequest
from loops.models import Loop
from reviews.dashboard import examples, ledger
from reviews.dashboard.access import behind, page
from reviews.dashboard.request_forms import RequestFilterForm

MOST_LOOPS = 200  # in the filter; the list of loops leads to the others


@page
def requests(http: SignedInRequest) -> HttpResponse:
    loops = list(Loop.objects.of_creator(http.user.pk).newest_first().only("name")[:MOST_LOOPS])
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
