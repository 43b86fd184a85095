"""Locks an account while a page changes its addresses, second factors or passkeys."""

from functools import wraps

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

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


def removable(view: Page) -> Page:
    """Locks the account while the form about one of its second factors or passkeys is handled.

    A form for a removed one, for example after a second click, shows a message and the rest.
    """
    locked = while_locked(view)

    @wraps(locked)
    def wrapped(request: HttpRequest, **ids: str) -> HttpResponse:
        try:
            return locked(request, **ids)
        except Http404:
            if request.method != "POST":
                raise
            messages.info(request, _("That was already removed."))
            return redirect("mfa_index")

    return wrapped
