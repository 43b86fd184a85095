"""Renders the error pages 400, 403, 404, 429, 500 and 503."""

from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from web.guards import get_old_token_handler
from web.languages import gettext_lazy as _lazy

UNAVAILABLE = _lazy("Temporarily unavailable")
SIGN_IN_PAGES = ("account_login", "account_signup", "sign-in-by-code", "sign-up-by-code")
RETRY_AFTER = 2  # seconds, with every 503
SYMBOLS = {
    400: "alert-circle",
    403: "lock",
    404: "search",
    429: "hourglass",
    500: "alert-triangle",
    503: "cloud-off",
}


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Renders the 400 page, for example for an unknown Host."""
    return error_page(
        request, 400, _("Bad request"), _("Your browser sent a request that we can’t read.")
    )


def unknown_host(request: HttpRequest) -> HttpResponse:
    """Renders the page for an address that is not the service's."""
    sentence = _("This service isn’t available at this address. Go to %(site_url)s.") % {
        "site_url": settings.SITE_URL
    }
    return error_page(request, 400, _("Unknown address"), sentence)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Renders the 403 page."""
    return error_page(
        request, 403, _("Access denied"), _("Your account doesn’t have permission to do this.")
    )


def form_expired(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Handles a form with a missing or wrong CSRF token. The form's action never runs.

    A page gets an old token when the person signs in again in another tab. If our own page sent
    the form, the view's handler of old tokens can save the input, and the person gets a new page.
    Otherwise, for example if another site made the form, this renders a 403 page.
    """
    view = request.resolver_match
    handle_old_token = get_old_token_handler(view.func) if view else None
    if view and handle_old_token and is_sent_by_our_page(request):
        handle_old_token(request, **view.kwargs)
        return redirect(request.get_full_path())
    if view and view.url_name in SIGN_IN_PAGES and request.user.is_authenticated:
        query = urlencode({"next": request.POST.get("next", "")})
        return redirect(f"{request.path}?{query}")  # this view redirects signed-in people
    sentence = _("Nothing was sent. Go back, reload the page, and try again.")
    return error_page(request, 403, _("This page has expired"), sentence)


def is_sent_by_our_page(request: HttpRequest) -> bool:
    """Tells whether a page of this site submitted the form, not a script or another site.

    The browser sets these headers, and no other site can forge them. The form of another site
    must not put its text into one of our forms.
    """
    site = request.headers.get("Sec-Fetch-Site")  # missing without TLS
    own_origins = {f"{request.scheme}://{request.get_host()}", *settings.CSRF_TRUSTED_ORIGINS}
    is_ours = (
        request.headers.get("Origin") in own_origins if site is None else site == "same-origin"
    )
    return is_ours and "text/html" in request.headers.get("Accept", "")  # scripts accept any type


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Renders the 404 page."""
    sentence = _("This page doesn’t exist, or your account can’t see it.")
    return error_page(request, 404, _("Not found"), sentence)


def too_many_requests(request: HttpRequest, *, retry_after: int | None = None) -> HttpResponse:
    """Renders the 429 page of our throttles and django-allauth's; `retry_after` is in seconds."""
    sentence = _("Wait a minute or two, then try again.")
    response = error_page(request, 429, _("Too many attempts"), sentence)
    if retry_after is not None:
        response["Retry-After"] = str(retry_after)
    return response


def server_error(request: HttpRequest) -> HttpResponse:
    """Renders the 500 page."""
    sentence = _("The problem is on our side and has been logged. Try again in a moment.")
    return error_page(request, 500, _("Something went wrong"), sentence)


def unavailable(request: HttpRequest) -> HttpResponse:
    """Renders the 503 page, shown while the database cannot serve.

    The page contains the posted form for another attempt. Only views with a handler of old tokens
    have this; views of passwords and codes have none.
    """
    view = request.resolver_match
    is_kept = request.method == "POST" and view and get_old_token_handler(view.func)
    if not is_kept:
        sentence = _("The service can’t reach its database. Try again in a moment.")
        return retry_later(error_page(request, 503, UNAVAILABLE, sentence))
    fields = [(name, value) for name in request.POST for value in request.POST.getlist(name)]
    sentence = _("What you sent may not have arrived. It’s safe to send it again.")
    return retry_later(error_page(request, 503, UNAVAILABLE, sentence, fields=fields))


def retry_later(response: HttpResponse) -> HttpResponse:
    """Adds the headers of a 503."""
    response["Retry-After"] = str(RETRY_AFTER)
    response["Cache-Control"] = "no-store"
    return response


def error_page(
    request: HttpRequest, status: int, title: str, sentence: str, **context: Any
) -> HttpResponse:
    """Renders an error page without the database, the possible cause of the error."""
    context |= {"title": title, "sentence": sentence, "status": status, "symbol": SYMBOLS[status]}
    return render(request, "error.html", context, status=status)
