"""Keeps changes of a second factor and the cleanup of an account apart."""

from functools import wraps

from django.db import transaction
from django.http import HttpRequest, HttpResponse

from accounts.secured import AccountSecured, lock_account
from web.guards import Page, leave_stale_page


def while_locked(view: Page) -> Page:
    """Locks the account while its form is handled, so that two forms never change it at once.

    If the account was secured, got another password or was deleted after the person was recognized,
    nothing is changed and they have to sign in again.
    """

    @wraps(view)
    def wrapped(request: HttpRequest, **ids: str) -> HttpResponse:
        if request.method != "POST" or not request.user.is_authenticated:
            return view(request, **ids)
        try:
            with transaction.atomic():
                lock_account(request.user)
                return view(request, **ids)
        except AccountSecured as secured:
            return leave_stale_page(request, secured)

    return wrapped
