"""Middleware that activates the time zone of the signed-in person."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.models import User
from accounts.time_zones import find_zone

WITHOUT_TIMES = ("/healthz", "/readyz", "/openapi.json", "/docs")


class TimeZoneMiddleware:
    """Shows the times of pages in the time zone of the signed-in person; the API uses UTC."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            return self.get_response(request)
        finally:
            timezone.deactivate()

    def process_view(self, request: HttpRequest, *args: Any) -> None:
        # not in __call__, because only here is it certain that the page exists
        if request.path not in WITHOUT_TIMES:
            timezone.activate(read_time_zone(request))


def read_time_zone(request: HttpRequest) -> ZoneInfo:
    """Returns the time zone of the signed-in person, or UTC."""
    name = "UTC"
    if settings.SESSION_COOKIE_NAME in request.COOKIES:
        with suppress(DatabaseError, InterfaceError):  # the page will show the outage
            name = request.user.time_zone if isinstance(request.user, User) else name
    return find_zone(name)
