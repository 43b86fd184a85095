"""The pages of passkeys (WebAuthn): adding and removing one, signing in and confirming with one.

Every passkey is kept by its device and asks for a fingerprint, face or PIN. So it replaces password
and second factor, and is a second factor after a password.
"""

from typing import Any

from allauth.mfa.webauthn.internal import auth
from allauth.mfa.webauthn.views import (
    AddWebAuthnView,
    EditWebAuthnView,
    LoginWebAuthnView,
    ReauthenticateWebAuthnView,
    RemoveWebAuthnView,
)
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _lazy

from accounts.session_store import REMEMBER

REFUSED = _lazy("This passkey was not accepted. Try again.")


class AddPasskey(AddWebAuthnView):  # type: ignore[misc]
    """Adds a passkey that the device keeps."""

    def get_context_data(self, **options: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**options)
        creation = auth.begin_registration(self.request.user, passwordless=True)
        return {**context, **options, "js_data": creation}


class RenamePasskey(EditWebAuthnView):  # type: ignore[misc]
    success_url = reverse_lazy("mfa_index")


class RemovePasskey(RemoveWebAuthnView):  # type: ignore[misc]
    success_url = reverse_lazy("mfa_index")


class SignInWithPasskey(LoginWebAuthnView):  # type: ignore[misc]
    """Signs in without password and code."""

    def form_valid(self, form: Any) -> HttpResponse:
        self.request.session[REMEMBER] = "remember" in self.request.POST
        response: HttpResponse = super().form_valid(form)
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        messages.error(self.request, REFUSED)
        return redirect("account_login")


class ConfirmWithPasskey(ReauthenticateWebAuthnView):  # type: ignore[misc]
    """Asks for a passkey before a sensitive action."""

    def form_invalid(self, form: Any) -> HttpResponse:
        messages.error(self.request, REFUSED)
        return redirect(self.passthrough_next_url(self.request.path))


def passkeys(request: HttpRequest) -> HttpResponse:
    """Redirects to the page that lists them together with the other second factors."""
    return redirect("mfa_index")
