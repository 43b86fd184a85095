"""What surrounds every call."""

import ipaddress
import re
from collections.abc import Callable
from functools import lru_cache

import structlog
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from django.urls import get_resolver, resolve

from db.outages import is_outage
from web.error_pages import unavailable

log = structlog.get_logger(__name__)

ErrorHandler = Callable[[HttpRequest], HttpResponse]


def is_address(text: str) -> bool:
    """Whether `text` is an IPv4 or IPv6 address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


class LightMiddleware:
    """Answers the polls of open pages, hundreds in a second, before all that other pages need:
    sessions, people, tokens of forms, time zones. Their views check a token of their own.

    What these answers need of the rest, an unknown Host refused and two headers, is done here:
    it costs a third of passing through the middleware that does it for pages.
    """

    PATH = re.compile(r"/inbox/(?:[^/]+/)?state/\Z")
    HEADERS = (
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", settings.SECURE_REFERRER_POLICY),
    )

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not self.PATH.match(request.path_info):
            return self.get_response(request)
        answer = self._answer(request)
        for name, value in self.HEADERS:
            answer.headers[name] = value
        return answer

    def _answer(self, request: HttpRequest) -> HttpResponse:
        if request.method != "GET":
            return HttpResponse(status=405, headers={"Allow": "GET"})
        try:
            request.get_host()
            view = found(request.path_info)
            answer: HttpResponse = view.func(request, **view.kwargs)
        except DisallowedHost:
            return HttpResponse(status=400)
        except (DatabaseError, InterfaceError) as error:
            if not is_outage(error):
                raise
            return HttpResponse(status=503)
        return answer


# Going through all patterns takes longer than reading the token.
found = lru_cache(maxsize=256)(resolve)


class TextMiddleware:
    """Text is UTF-8, whatever charset a client names: some could make anything of a text. And a
    session's cookie has no NUL, for which PostgreSQL cannot look."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.encoding not in (None, "utf-8"):
            request.encoding = "utf-8"
        if "\0" in request.COOKIES.get(settings.SESSION_COOKIE_NAME, ""):
            bad_request: ErrorHandler = get_resolver().resolve_error_handler(400)
            return bad_request(request)
        return self.get_response(request)


class TrustedProxyMiddleware:
    """Takes the client's address and scheme from the proxies that the operator declared.

    With TRUSTED_PROXIES = n, the n-th entry from the right of X-Forwarded-For is the client:
    what stands further left was written by the client itself.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        count: int = settings.TRUSTED_PROXIES
        if count:
            hops = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
            if len(hops) >= count and is_address(hops[-count].strip()):
                request.META["REMOTE_ADDR"] = hops[-count].strip()
            if request.META.get("HTTP_X_FORWARDED_PROTO") == "https":
                request.META["wsgi.url_scheme"] = "https"
        # django-ratelimit wants an address; a unix socket has none
        request.META["REMOTE_ADDR"] = request.META.get("REMOTE_ADDR") or "127.0.0.1"
        return self.get_response(request)


class OutageMiddleware:
    """Tells people that the database is away, as the API tells programs."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, DatabaseError | InterfaceError) or not is_outage(exception):
            return None
        log.error("page.database_unreachable", error=str(exception))
        return unavailable(request)
