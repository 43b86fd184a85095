"""The pages for a forgotten password, and the one behind the link in the email."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.views import PasswordResetFromKeyView, PasswordResetView
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from accounts.proofs import AddressUnavailable, is_unproven
from accounts.sign_in_codes import can_send
from signin.proof import prove


class ForgottenPassword(PasswordResetView):  # type: ignore[misc]
    """Emails a link; without email, explains how the operator makes one."""

    def dispatch(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        if not can_send():
            return render(request, "account/password_reset_unsent.html")
        response: HttpResponse = super().dispatch(request, *args, **options)
        return response


def only_with_mail(view: Callable[[HttpRequest], HttpResponse]) -> Any:
    """Guards a page about a sent email. Raises Http404 if the service cannot send any."""

    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        if not can_send():
            raise Http404
        return view(request)

    return guarded


class ResetPassword(PasswordResetFromKeyView):  # type: ignore[misc]
    """Sets a new password, and confirms the address to which the link was sent.

    A link goes to an unconfirmed address only if the account has confirmed none; it is then its own
    address.
    """

    def form_valid(self, form: Any) -> HttpResponse:
        try:
            with transaction.atomic():
                return self.prove_and_save(form)
        except AddressUnavailable:  # the account was deleted, or another has it now
            return redirect("account_reset_password")

    def prove_and_save(self, form: Any) -> HttpResponse:
        """Confirms the address if none is confirmed yet, and sets the password.

        Confirming locks the account against another change of the password.
        """
        user = self.reset_user
        if is_unproven(user):
            prove(self.request, user, user.email, advice="", keep_password=True)
        response: HttpResponse = super().form_valid(form)
        return response
