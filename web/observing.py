"""Gives every call its id, a line in the access log, and its place in the metrics."""

import re
import time
from collections.abc import Callable
from functools import lru_cache

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from web import call_ids, metrics
from web.waiting import get_resumed, is_kept

log = structlog.get_logger("access")
QUIET = ("/healthz", "/readyz", "/metrics", "/static/")
_GROUP = re.compile(r"\(\?P<(\w+)>[^()]*\)")
_CONVERTER = re.compile(r"<\w+:")
_ENDING = re.compile(r"(/\?)?(\\Z|\$)\Z")
_REST = re.compile(r"\(\?:/[^()]*\)\?\Z")
_GIVEN = "HTTP_X_REQUEST_ID"  # read here: `request.headers` would be built for every poll
_BEGAN = "web.observing.began"  # in the environment: the arrival of the call


class ObservingMiddleware:
    """Gives each call its id and reports its end. Comes before all other middleware.

    A line names the route, not the path: paths of pages contain invite codes and links for
    passwords. Below /v1 they contain ids only.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        call_id = call_ids.begin(request.META.get(_GIVEN, ""))
        request.META[_GIVEN] = call_id  # a call that has waited keeps its id and time
        began = request.META.setdefault(_BEGAN, time.monotonic())
        has_waited = get_resumed(request.META) is not None
        try:
            response = self.get_response(request)
            response.headers[call_ids.HEADER] = call_id
            if not is_kept(request.META):
                report(request, response, time.monotonic() - began, has_waited=has_waited)
            return response
        finally:
            call_ids.end()


@lru_cache(maxsize=1024)  # the cache is larger than the number of routes
def simplify(route: str) -> str:
    """Returns a route as people write it: `/v1/api/loops/<loop_id>`."""
    named = _CONVERTER.sub("<", _GROUP.sub(r"<\1>", route))
    return "/" + _REST.sub("/…", _ENDING.sub("", named)).replace("^", "").lstrip("/")


def report(
    request: HttpRequest, response: HttpResponse, seconds: float, *, has_waited: bool
) -> None:
    """Counts a call, and writes its line where ACCESS_LOG is on."""
    if not (metrics.IS_ON or settings.ACCESS_LOG) or request.path_info.startswith(QUIET):
        return
    match = request.resolver_match
    route = simplify(match.route) if match else ""
    metrics.note_call(
        method=str(request.method),
        route=f"{route} (waited)" if has_waited else route,
        status=response.status_code,
        seconds=seconds,
    )
    if settings.ACCESS_LOG:
        log.info(
            "call.ended",
            method=request.method,
            route=route,
            path=request.path_info if request.path_info.startswith("/v1/") else None,
            status=response.status_code,
            ms=round(seconds * 1000, 1),
            ip=request.META.get("REMOTE_ADDR"),
        )
