"""Middleware for all requests.

It handles time limits of the database, probes, polling, invalid text, proxies, metrics, headers and
outages of the database.
"""

import ipaddress
import re
from collections.abc import Callable
from functools import lru_cache

import structlog
from django.conf import settings
from django.core.exceptions import DisallowedHost, SuspiciousOperation
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from django.urls import get_resolver, resolve

from db import lock_waits
from db.outages import is_outage, note_outage
from db.time_limits import WATCHDOG
from web import health
from web.error_pages import RETRY_AFTER, unavailable

log = structlog.get_logger(__name__)

ErrorHandler = Callable[..., HttpResponse]


def is_address(text: str) -> bool:
    """Tells whether `text` is an IPv4 or IPv6 address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


class DatabaseLimitsMiddleware:
    """Limits how long each call may use the database, and how many wait for locks."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        WATCHDOG.begin(settings.WEB_DATABASE_SECONDS)
        has_place = lock_waits.begin_call()
        try:
            return self.get_response(request)
        finally:
            lock_waits.end_call(has_place)
            WATCHDOG.end()


class ProbeMiddleware:
    """Answers /healthz and /readyz before the check of the Host: probes call a machine's address.

    The web server (web/server/) answers /healthz itself.
    """

    VIEWS = {"/healthz": health.healthz, "/readyz": health.readyz}

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        view = self.VIEWS.get(request.path_info)
        return view(request) if view else self.get_response(request)


class PollingMiddleware:
    """Responds to the polling of open pages before the costly middleware runs.

    Hundreds of these requests come per second. They need no session, user, CSRF token or time zone,
    because their views check a token of their own. This middleware checks the Host and sets the
    security headers, at a third of the cost of the middleware for pages.
    """

    PATH = re.compile(r"/inbox/(?:[^/]+/)?state/\Z")
    HEADERS = (
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", settings.SECURE_REFERRER_POLICY),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    )

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not self.PATH.match(request.path_info):
            return self.get_response(request)
        response = self._respond(request)
        for name, value in self.HEADERS:
            response.headers[name] = value
        return response

    def _respond(self, request: HttpRequest) -> HttpResponse:
        if request.method != "GET":
            return HttpResponse(status=405, headers={"Allow": "GET"})
        try:
            request.get_host()
            view = request.resolver_match = resolve_path(request.path_info)
            response: HttpResponse = view.func(request, **view.kwargs)
        except DisallowedHost:
            return HttpResponse(status=400)
        except (DatabaseError, InterfaceError) as error:
            if not is_outage(error):
                raise
            note_outage(error)
            return HttpResponse(status=503, headers={"Retry-After": str(RETRY_AFTER)})
        return response


# Cached: matching all URL patterns takes longer than checking the token.
resolve_path = lru_cache(maxsize=256)(resolve)


class TextMiddleware:
    """Reads all text as UTF-8, and refuses session cookies with a NUL character.

    A charset chosen by the client could turn a text into something else. PostgreSQL cannot search
    for NUL.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.encoding not in (None, "utf-8"):
            request.encoding = "utf-8"
        if "\0" in request.COOKIES.get(settings.SESSION_COOKIE_NAME, ""):
            bad_request: ErrorHandler = get_resolver().resolve_error_handler(400)
            return bad_request(request, SuspiciousOperation("cookies must not contain NUL"))
        return self.get_response(request)


class TrustedProxyMiddleware:
    """Reads the client's IP address and scheme from the headers of trusted proxies.

    With TRUSTED_PROXIES = n, the n-th entry from the right of X-Forwarded-For is the client's
    address. The client itself could have written the entries further left.
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
        # django-ratelimit needs an address; a Unix socket has none
        request.META["REMOTE_ADDR"] = request.META.get("REMOTE_ADDR") or "127.0.0.1"
        return self.get_response(request)


class MetricsMiddleware:
    """Answers /metrics before the check of the Host: Prometheus calls a machine's address.

    Comes after TrustedProxyMiddleware, because the permission depends on the client's address.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info != "/metrics":
            return self.get_response(request)
        response: HttpResponse = resolve("/metrics").func(request)
        return response


class HeadersMiddleware:
    """Adds headers to pages and files: content policy, embedding and caching.

    Other sites may embed QR codes. Pages of accounts, which show secrets, must not be cached.
    """

    POLICY = ", ".join(
        f"{feature}=()"
        for feature in (
            "accelerometer", "autoplay", "camera", "display-capture", "geolocation", "gyroscope",
            "magnetometer", "microphone", "midi", "payment", "usb", "xr-spatial-tracking",
        )
    )  # fmt: skip
    EMBEDDED = "/qr/"
    UNSTORED = ("/accounts/", "/admin/")

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_embedded = request.path_info.startswith(self.EMBEDDED)
        policy = "cross-origin" if is_embedded else "same-origin"
        response.headers.setdefault("Cross-Origin-Resource-Policy", policy)
        response.headers.setdefault("Permissions-Policy", self.POLICY)
        if request.path_info.startswith(self.UNSTORED):
            response.headers["Cache-Control"] = "no-store, private"
        return response


class OutageMiddleware:
    """Renders the 503 page while the database is unreachable."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, DatabaseError | InterfaceError) or not is_outage(exception):
            return None
        note_outage(exception)
        log.error("page.database_unreachable", error=str(exception))
        return unavailable(request)
