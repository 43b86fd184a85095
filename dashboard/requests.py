"""The list of requests, with its filters in the URL."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from dashboard import request_examples, request_list
from dashboard.access import page, read_cursor
from dashboard.forms.requests import RequestFilterForm
from dashboard.loop_choices import read_loop_choices
from web.guards import SignedInRequest
from web.replica import prefer_replica


@page
@prefer_replica
def requests(request: SignedInRequest) -> HttpResponse:
    loops = read_loop_choices(request.user.pk, request.GET.get("loop", ""))
    form = RequestFilterForm(request.GET, loops=loops, auto_id="filter-%s")
    context: dict[str, Any] = {"filters": form, "loops": loops, "is_filtered": form.is_set}
    if not form.is_valid():
        context["window"] = request_list.RequestPage(rows=[])
        return render(request, "dashboard/requests/list.html", context, status=422)
    filters = request_list.Filters(account_id=request.user.pk, **form.cleaned_data)
    if filters.is_counted:
        context["window"] = request_list.read_page(filters, request.GET.get("page", ""))
    else:
        context["window"] = request_list.read_older(filters, read_cursor(request))
    if not context["window"].rows and not form.is_set and loops:
        context["tabs"] = request_examples.build_ask_tabs(loops[0].pk)
    return render(request, "dashboard/requests/list.html", context)
