"""The page behind the link in an email for a forgotten password."""

from typing import Any

from allauth.account.views import PasswordResetFromKeyView
from django.http import HttpResponse
from django.shortcuts import redirect

from accounts.proofs import AddressTaken, is_unproven
from signin.proof import prove


class ResetPassword(PasswordResetFromKeyView):  # type: ignore[misc]
    """Sets a new password, and confirms the address to which the link was sent.

    Only an account that has confirmed no address is sent a link to one that is not confirmed: to
    its own.
    """

    def form_valid(self, form: Any) -> HttpResponse:
        user = self.reset_user
        if is_unproven(user):
            try:
                prove(self.request, user, user.email, advice="", keep_password=True)
            except AddressTaken:  # another account confirmed it this very moment
                return redirect("account_reset_password")
        response: HttpResponse = super().form_valid(form)
        return response
