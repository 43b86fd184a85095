"""Asks people to confirm who they are before they change what protects their account.

A password, second factor, passkey or emailed code of the last minutes counts, including that of the
sign-in. Otherwise django-allauth asks for one, and then repeats the posted form.
"""

import time
from functools import wraps

from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.core.exceptions import ReauthenticationRequired
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from web.guards import Page, SignedInRequest


def confirmed(view: Page) -> Page:
    """Accepts a form only after a recent confirmation of the person. The innermost decorator."""

    @wraps(view)
    def wrapped(request: SignedInRequest, **ids: str) -> HttpResponse:
        if request.method == "POST":
            require_confirmation(request)
        return view(request, **ids)

    return wrapped


def require_confirmation(request: HttpRequest) -> None:
    """Raises ReauthenticationRequired, unless the person confirmed recently or has no means to."""
    if not is_confirmed(request) and get_adapter().get_reauthentication_methods(request.user):
        raise ReauthenticationRequired


def is_confirmed(request: HttpRequest) -> bool:
    """Tells whether the person confirmed recently who they are."""
    records = get_authentication_records(request, request.user)
    since = time.time() - settings.ACCOUNT_REAUTHENTICATION_TIMEOUT
    return any(since < record["at"] for record in records)
