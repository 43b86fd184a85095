"""Middleware that lets API calls skip the middleware of pages."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.urls import resolve

from api.envelope import is_for_programs


class ApiMiddleware:
    """Calls the views below /v1 and the one at /mcp directly, without the middleware that follows.

    API clients have no session, form or browser. They need only the check of the Host, which is
    made here, and a few headers, which `api.envelope.build_response` sets.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not is_for_programs(request):
            return self.get_response(request)
        request.get_host()
        match = request.resolver_match = resolve(request.path_info, urlconf="api.urls")
        response: HttpResponse = match.func(request, **match.kwargs)
        return response
