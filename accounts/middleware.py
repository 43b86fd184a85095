"""Middleware that recognizes the signed-in person, and activates their time zone and language."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.contrib.auth import middleware
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation
from django.utils.functional import SimpleLazyObject

from accounts.models import User
from accounts.time_zones import find_zone
from web.languages import IN_ENGLISH

WITHOUT_TIMES = ("/healthz", "/readyz", "/openapi.json", "/docs")


class AuthenticationMiddleware(middleware.AuthenticationMiddleware):
    """Keeps the session key of sessions that were signed with a former SECRET_KEY.

    Django would replace the session key. Requests under way with the old one would then sign the
    person out.
    """

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)
        request.user = SimpleLazyObject(lambda: recognise(request))  # type: ignore[assignment]


def recognise(request: HttpRequest) -> Any:
    """Returns the signed-in person.

    Django begins a new session after a change of SECRET_KEY; here the session keeps its key.
    """
    store: Any = request.session
    store.keeps_key = True
    try:
        return middleware.get_user(request)
    finally:
        store.keeps_key = False


class PreferencesMiddleware:
    """Shows pages in the time zone and the language of the signed-in person.

    The API uses UTC and English. `web.languages.LanguageMiddleware` deactivates the language.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            return self.get_response(request)
        finally:
            timezone.deactivate()

    def process_view(self, request: HttpRequest, *args: Any) -> None:
        # not in __call__: only here is the page known to exist
        if request.path not in WITHOUT_TIMES:
            user = read_user(request)
            timezone.activate(find_zone(user.time_zone if user else "UTC"))
            if user and not request.path.startswith(IN_ENGLISH):
                activate_language(user)


def read_user(request: HttpRequest) -> User | None:
    """Returns the signed-in person."""
    if settings.SESSION_COOKIE_NAME in request.COOKIES:
        with suppress(DatabaseError, InterfaceError):  # the view will report it
            return request.user if isinstance(request.user, User) else None
    return None


def activate_language(user: User) -> None:
    """Activates the language that the person chose; without one, stores that of their browser."""
    if user.language in dict(settings.LANGUAGES):
        translation.activate(user.language)
        return
    language = translation.get_language()
    if language != user.browser_language:
        with suppress(DatabaseError, InterfaceError):
            User.objects.filter(pk=user.pk).update(browser_language=language)
