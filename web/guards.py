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

if TYPE_CHECKING:
    from accounts.models import User

Page = Callable[..., HttpResponse]


class SignedInRequest(HttpRequest):
    """A request behind `login_required`."""

    user: "User"


class Stale(Exception):
    """What the page was about has changed meanwhile; the words say how. `back` names a page."""

    def __init__(self, words: str, *, back: str, **ids: str) -> None:
        super().__init__(words)
        self.url = reverse(back, kwargs=ids)


OLD_PAGE = "That page expired when you signed in again. Nothing was changed. Please try again."


def page(view: Page) -> Page:
    """For reading."""
    return require_safe(_guarded(view))


def form_page(view: Page) -> Page:
    """Shows a form and takes it."""
    return require_http_methods(["GET", "HEAD", "POST"])(_guarded(view))


def action(back: str, *, without: str = "") -> Callable[[Page], Page]:
    """A form's target. Whoever comes by GET, such as back from the sign-in page, is led to the
    page called `back`, which has the form; its address has the same ids, `without` one."""

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
            messages.info(request, str(stale))
            return redirect(stale.url)

    vars(guarded)["on_old_token"] = say_it_is_old
    return guarded


def say_it_is_old(request: HttpRequest, **ids: str) -> None:
    """For `web.error_pages.form_expired`."""
    messages.info(request, OLD_PAGE)
