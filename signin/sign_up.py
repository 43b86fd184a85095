"""The page for signing up with a password.

If the service sends email, an account is created only after its holder has typed the code that was
emailed. So the page says the same for an address that has an account: only the email tells.
"""

from typing import Any

from allauth.account.views import SignupView
from django.contrib.auth.hashers import make_password
from django.http import HttpResponse

from accounts.sign_in_codes import PendingSignIn, can_send
from signin import code


class SignUp(SignupView):  # type: ignore[misc]
    """Emails a code instead of creating an unconfirmed account, where email is sent."""

    def form_valid(self, form: Any) -> HttpResponse:
        if not can_send():
            response: HttpResponse = super().form_valid(form)
            return response
        fields = form.cleaned_data
        password = make_password(fields["password1"])
        try:
            return code.start(
                self.request, PendingSignIn(fields["email"], fields["name"], password)
            )
        except code.NotSent as refusal:
            form.add_error(refusal.field, str(refusal))
            refused: HttpResponse = self.form_invalid(form)
            refused.status_code = refusal.status
            return refused
