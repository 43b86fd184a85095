"""The page for signing up with a password.

If the service sends email, an account is created only after its holder has typed the emailed code.
The page therefore does not reveal whether an address has an account; only the email does.
"""

from typing import Any

from allauth.account.internal.flows.login import record_authentication
from allauth.account.views import SignupView
from django.contrib.auth.hashers import make_password
from django.http import HttpResponse
from django.shortcuts import render

from accounts.sign_in_codes import PendingSignIn, can_send
from signin import code
from signin.sign_up_rules import MayNotSignUp, check_sign_up


class SignUp(SignupView):  # type: ignore[misc]
    """Emails a code instead of creating an unconfirmed account, if the service sends email."""

    def form_valid(self, form: Any) -> HttpResponse:
        if not can_send():
            return self.create_unconfirmed(form)
        fields = form.cleaned_data
        password = make_password(fields["password1"])
        try:
            return code.start(
                self.request, PendingSignIn(fields["email"], fields["name"], password)
            )
        except code.NotSent as refusal:
            return self.refuse(form, refusal.field, str(refusal), refusal.status)

    def create_unconfirmed(self, form: Any) -> HttpResponse:
        """Creates the account at once, because no code could reach its holder."""
        try:
            check_sign_up(self.request, form.cleaned_data["email"])
        except MayNotSignUp as refusal:
            return self.refuse(form, "email", str(refusal), 422)
        response: HttpResponse = super().form_valid(form)
        if self.request.user.is_authenticated:  # with the password that they have just typed
            email = form.cleaned_data["email"]
            record_authentication(self.request, self.request.user, method="password", email=email)
        return response

    def refuse(self, form: Any, field: str | None, sentence: str, status: int) -> HttpResponse:
        form.add_error(field, sentence)
        refused: HttpResponse = self.form_invalid(form)
        refused.status_code = status
        return refused

    def closed(self) -> HttpResponse:
        return render(self.request, "account/signup_closed.html", status=403)
