"""Decorators that let only signed-in people reach a page or the target of a form."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from web.languages import gettext_lazy as _lazy

if TYPE_CHECKING:
    from accounts.models import User

Page = Callable[..., HttpResponse]
OldTokenHandler = Callable[..., None]
"""Gets the request and the ids in its URL."""


class SignedInRequest(HttpRequest):
    """A request of a signed-in person, after `login_required`."""

    user: "User"


class Stale(Exception):
    """The object of the page changed meanwhile. The person sees `message` on the page `back`."""

    def __init__(self, message: str, *, back: str, **ids: str) -> None:
        super().__init__(message)
        self.url = reverse(back, kwargs=ids)


OLD_PAGE = _lazy(
    "That page expired when you signed in again. Nothing was changed. Please try again."
)


def page(view: Page) -> Page:
    """Guards a page that only reads."""
    return require_safe(_guarded(view))


def form_page(view: Page) -> Page:
    """Guards a page that shows a form and receives it."""
    return require_http_methods(["GET", "HEAD", "POST"])(_guarded(view))


def action(back: str, *, without: str = "") -> Callable[[Page], Page]:
    """Guards the target of a form, which accepts POST.

    GET, for example after signing in, redirects to `back`, the page with the form. Its URL has the
    same ids, except `without`.
    """

    def decorate(view: Page) -> Page:
        @wraps(view)
        def posted(request: SignedInRequest, **ids: str) -> HttpResponse:
            if request.method in ("GET", "HEAD"):
                ids.pop(without, None)
                return redirect(reverse(back, kwargs=ids))
            if request.method != "POST":
                return HttpResponseNotAllowed(["POST"])
            return view(request, **ids)

        return _guarded(posted)

    return decorate


def _guarded(view: Page) -> Page:
    @login_required
    @never_cache
    @wraps(view)
    def guarded(request: SignedInRequest, **ids: str) -> HttpResponse:
        try:
            return view(request, **ids)
        except Stale as stale:
            return leave_stale_page(request, stale)

    set_old_token_handler(guarded, warn_page_expired)
    return guarded


def leave_stale_page(request: HttpRequest, stale: Stale) -> HttpResponse:
    """Shows the change in a message, and redirects to the page with the details."""
    messages.info(request, str(stale))
    return redirect(stale.url)


def set_old_token_handler(view: Page, handler: OldTokenHandler) -> None:
    """Sets the handler of a view for forms of this site with an old CSRF token.

    While the database is away, the 503 page contains the form posted to such a view, for another
    attempt. Decorators that use `functools.wraps` keep the handler.
    """
    vars(view)["on_old_token"] = handler


def get_old_token_handler(view: Page) -> OldTokenHandler | None:
    """Returns the handler set by `set_old_token_handler`."""
    return getattr(view, "on_old_token", None)


def warn_page_expired(request: HttpRequest, **ids: str) -> None:
    """Shows that the page has expired; called by `web.error_pages.form_expired`."""
    messages.info(request, OLD_PAGE)
