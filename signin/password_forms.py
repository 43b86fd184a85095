"""django-allauth's forms with a password, in the words of ours: labels like all others, and the
way out of a forgotten one below the form, not between a label and its field."""

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

FORGETTABLE = ("password", "oldpassword")


class _InOurWords(forms.Form):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.label = str(field.label).capitalize()
            field.help_text = "" if name in FORGETTABLE else field.help_text


class SignInForm(_InOurWords, LoginForm):  # type: ignore[misc]
    """Address and password."""


class ConfirmForm(_InOurWords, ReauthenticateForm):  # type: ignore[misc]
    """The password once more."""


class ChangeForm(_InOurWords, ChangePasswordForm):  # type: ignore[misc]
    """The password so far, and another."""


class SetForm(_InOurWords, SetPasswordForm):  # type: ignore[misc]
    """The first one of somebody who signed up without."""


class ForgottenForm(ResetPasswordForm):  # type: ignore[misc]
    """Where the link goes that sets another one: to whom a code would let in, and nobody else. Who
    has an address that somebody mistyped in their account does not get in by it."""

    def clean_email(self) -> str:
        email = str(super().clean_email())
        holder = find_holder(email)
        self.users = [holder.user] if holder and holder.user.is_active else []
        return email


class ResetForm(_InOurWords, ResetPasswordKeyForm):  # type: ignore[misc]
    """Another one, by a link in a mail."""
