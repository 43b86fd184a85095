"""Where everybody arrives."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe


@require_safe
def home(http: HttpRequest) -> HttpResponse:
    if http.user.is_authenticated:
        return redirect("inbox")
    return render(http, "portal/home.html")
