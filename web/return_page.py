"""Remembers the page that a person wanted before they had to do something else first."""

from django.http import HttpRequest

_SESSION_KEY = "return_page"


def remember(request: HttpRequest) -> None:
    """Remembers the current page."""
    request.session[_SESSION_KEY] = request.path


def take(request: HttpRequest) -> str | None:
    """Returns the remembered page once."""
    page: str | None = request.session.pop(_SESSION_KEY, None)
    return page
