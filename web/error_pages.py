"""The pages that say what went wrong: 400, 403, 404, 429, 500 and 503."""

from collections.abc import Callable
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

Rescue = Callable[..., None]
ENTRANCES = ("account_login", "account_signup", "sign-in-by-code", "sign-up-by-code")
SYMBOLS = {
    400: "alert-circle",
    403: "lock",
    404: "search",
    429: "hourglass",
    500: "alert-triangle",
    503: "cloud-off",
}


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """400, such as an unknown Host."""
    return error_page(request, 400, "Bad request", "Your browser sent an invalid request.")


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """403."""
    return error_page(
        request, 403, "Access denied", "Your account doesn’t have permission to do this."
    )


def form_expired(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form without its token: an old page, or a form of another site's making.

    Whoever signed in again in another tab has such an old page. Where they sent it themselves, the
    view's `on_old_token` may keep what they typed, and they come to a fresh page. Nothing is done.
    """
    view = request.resolver_match
    rescue: Rescue | None = getattr(view and view.func, "on_old_token", None)
    if view and rescue and is_sent_by_hand(request):
        rescue(request, **view.kwargs)
        return redirect(request.path)
    if view and view.url_name in ENTRANCES and request.user.is_authenticated:
        then = urlencode({"next": request.POST.get("next", "")})
        return redirect(f"{request.path}?{then}")  # from where whoever is in is led on
    sentence = "Nothing was sent. Go back, reload the page, and try again."
    return error_page(request, 403, "This page has expired", sentence)


def is_sent_by_hand(request: HttpRequest) -> bool:
    """Whether a page of ours sent it, as a form that leads to another page. The browser says so,
    and no other site can make it; a form of theirs must not leave its words in one of ours."""
    site = request.headers.get("Sec-Fetch-Site")  # http without TLS has none
    here = {f"{request.scheme}://{request.get_host()}", *settings.CSRF_TRUSTED_ORIGINS}
    is_ours = request.headers.get("Origin") in here if site is None else site == "same-origin"
    return is_ours and "text/html" in request.headers.get("Accept", "")  # a script takes anything


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """404."""
    sentence = "This page doesn’t exist, or your account can’t see it."
    return error_page(request, 404, "Not found", sentence)


def too_many_requests(request: HttpRequest, *, retry_after: int | None = None) -> HttpResponse:
    """429, from our throttles and from django-allauth's; `retry_after` is in seconds."""
    sentence = "Wait a minute or two, then try again."
    response = error_page(request, 429, "Too many attempts", sentence)
    if retry_after is not None:
        response["Retry-After"] = str(retry_after)
    return response


def server_error(request: HttpRequest) -> HttpResponse:
    """500."""
    sentence = "The problem is on our side and has been logged. Try again in a moment."
    return error_page(request, 500, "Something went wrong", sentence)


def unavailable(request: HttpRequest) -> HttpResponse:
    """503 while the database is out of reach."""
    sentence = "Nothing was sent or lost. Try again in a moment."
    return error_page(request, 503, "Temporarily unavailable", sentence)


def error_page(request: HttpRequest, status: int, title: str, sentence: str) -> HttpResponse:
    """A page that asks the database nothing: it may be what is wrong."""
    context = {"title": title, "sentence": sentence, "status": status, "symbol": SYMBOLS[status]}
    return render(request, "error.html", context, status=status)
