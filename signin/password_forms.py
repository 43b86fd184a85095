"""django-allauth's password forms with our labels.

The link for a forgotten password stands below the form, not between a label and its field.
"""

from typing import Any

from allauth.account.forms import (
    ChangePasswordForm,
    LoginForm,
    ReauthenticateForm,
    ResetPasswordForm,
    ResetPasswordKeyForm,
    SetPasswordForm,
)
from django import forms

from accounts.code_services import find_holder

WITHOUT_HELP_TEXT = ("password", "oldpassword")


class _OurLabels(forms.Form):
    """Capitalizes labels and removes the help texts of password fields."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.label = str(field.label).capitalize()
            field.help_text = "" if name in WITHOUT_HELP_TEXT else field.help_text


class SignInForm(_OurLabels, LoginForm):  # type: ignore[misc]
    """Asks for address and password."""


class ConfirmForm(_OurLabels, ReauthenticateForm):  # type: ignore[misc]
    """Asks for the password again before a sensitive action."""


class ChangeForm(_OurLabels, ChangePasswordForm):  # type: ignore[misc]
    """Asks for the current and the new password."""


class SetForm(_OurLabels, SetPasswordForm):  # type: ignore[misc]
    """Sets the first password of a person who signed up without one."""


class ForgottenForm(ResetPasswordForm):  # type: ignore[misc]
    """Sends a password link, only to people who could also sign in with a code.

    So the owner of an address that somebody else mistyped does not get into that account.
    """

    def clean_email(self) -> str:
        email = str(super().clean_email())
        holder = find_holder(email)
        self.users = [holder.user] if holder and holder.user.is_active else []
        return email


class ResetForm(_OurLabels, ResetPasswordKeyForm):  # type: ignore[misc]
    """Sets a new password after the link in an email."""
