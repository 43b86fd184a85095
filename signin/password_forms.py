"""django-allauth's password forms with our labels and error sentences.

The link for a forgotten password stands below the form, not between a label and its field.
"""

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.forms import (
    AddEmailForm,
    ChangePasswordForm,
    LoginForm,
    ReauthenticateForm,
    ResetPasswordForm,
    ResetPasswordKeyForm,
    SetPasswordForm,
    SignupForm,
)
from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _lazy

from accounts.code_services import find_holder
from accounts.forms import AddressField
from accounts.session_store import REMEMBER
from accounts.sign_in_codes import can_send
from signin.forms import remember_field

WITHOUT_HELP_TEXT = ("password", "oldpassword")
# The errors of empty fields.
REQUIRED = {
    "name": _lazy("Enter your name"),
    "login": _lazy("Enter your email address"),
    "email": _lazy("Enter your email address"),
    "password": _lazy("Enter your password"),
    "oldpassword": _lazy("Enter your current password"),
    "password1": _lazy("Enter a password"),
    "password2": _lazy("Enter the password again"),
}


class _OurWords(forms.Form):
    """Capitalizes labels, removes the help texts of password fields, and says what to enter."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            if isinstance(field, forms.EmailField):
                field = self.fields[name] = _take_pasted(field)
            field.label = str(field.label).capitalize()
            field.help_text = "" if name in WITHOUT_HELP_TEXT else field.help_text
            if name in REQUIRED:
                field.error_messages["required"] = REQUIRED[name]


def _take_pasted(field: forms.EmailField) -> AddressField:
    """Returns a field like that of django-allauth, for typed and pasted addresses."""
    return AddressField(required=field.required, label=field.label, widget=field.widget)


class SignInForm(_OurWords, LoginForm):  # type: ignore[misc]
    """Asks for address and password, and whether the person stays signed in."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["remember"] = remember_field()

    def login(self, request: HttpRequest, redirect_url: str | None = None) -> HttpResponse:
        """Notes the choice in the session, where it survives the second step."""
        request.session[REMEMBER] = self.cleaned_data["remember"]
        response: HttpResponse = super().login(request, redirect_url)
        return response


class SignUpForm(_OurWords, SignupForm):  # type: ignore[misc]
    """Asks for name, address and password."""

    def validate_unique_email(self, value: str) -> str:
        """Accepts every address if the service sends email; then only an email says more."""
        return value if can_send() else str(super().validate_unique_email(value))


class AddressForm(_OurWords, AddEmailForm):  # type: ignore[misc]
    """Adds an address to an account."""


class PasswordReauthForm(_OurWords, ReauthenticateForm):  # type: ignore[misc]
    """Asks for the password again before a sensitive action."""


class ChangeForm(_OurWords, ChangePasswordForm):  # type: ignore[misc]
    """Asks for the current and the new password."""

    def clean_oldpassword(self) -> str:
        """Counts wrong passwords together with those of the sign-in."""
        password = str(self.cleaned_data["oldpassword"])
        if not get_adapter().reauthenticate(self.user, password):
            raise get_adapter().validation_error("enter_current_password")
        return password


class SetForm(_OurWords, SetPasswordForm):  # type: ignore[misc]
    """Sets the first password of a person who signed up without one."""


class ForgottenForm(_OurWords, ResetPasswordForm):  # type: ignore[misc]
    """Sends a password link, only to people who could also sign in with a code.

    So the owner of an address that somebody else mistyped does not get into that account.
    """

    def clean_email(self) -> str:
        email = str(super().clean_email())
        holder = find_holder(email)
        self.users = [holder.user] if holder and holder.user.is_active else []
        return email


class ResetForm(_OurWords, ResetPasswordKeyForm):  # type: ignore[misc]
    """Sets a new password after the link in an email."""
