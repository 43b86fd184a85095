"""What surrounds every page."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.models import User

WITHOUT_TIMES = ("/healthz", "/readyz", "/openapi.json", "/docs")


class TimeZoneMiddleware:
    """Pages speak in the time of whoever reads them; the API speaks UTC."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            return self.get_response(request)
        finally:
            timezone.deactivate()

    def process_view(self, request: HttpRequest, *view: Any) -> None:
        # only here is it certain that there is a page
        if request.path not in WITHOUT_TIMES:
            timezone.activate(zone_of(request))


def zone_of(request: HttpRequest) -> ZoneInfo:
    """The time zone of whoever is signed in, else UTC."""
    name = "UTC"
    if settings.SESSION_COOKIE_NAME in request.COOKIES:
        with suppress(DatabaseError, InterfaceError):  # the page will find out, and say so
            name = request.user.time_zone if isinstance(request.user, User) else name
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")  # this machine does not know the zone any more
