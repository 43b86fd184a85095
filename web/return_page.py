"""Remembers the page to which a person returns after another step, such as a sign-in."""

from django.http import HttpRequest

_SESSION_KEY = "return_page"


def remember(request: HttpRequest) -> None:
    """Remembers the current page."""
    request.session[_SESSION_KEY] = request.path


def take(request: HttpRequest) -> str | None:
    """Returns the remembered page and forgets it."""
    page: str | None = request.session.pop(_SESSION_KEY, None)
    return page
