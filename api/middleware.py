"""Answers calls below /v1 without the middleware that only pages need."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.urls import resolve

from api.envelope import is_api


class ApiMiddleware:
    """Answers what lies below /v1 without the rest of the chain.

    A program has no session, no form and no browser. What it needs of the rest is that an unknown
    Host is refused, here, and a few headers, which `api.views.answer` sets.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not is_api(request):
            return self.get_response(request)
        request.get_host()
        found = resolve(request.path_info)
        response: HttpResponse = found.func(request, **found.kwargs)
        return response
