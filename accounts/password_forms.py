"""django-allauth's forms with a password, in the words of ours: labels like all others, and the
way out of a forgotten one below the form, not between a label and its field."""

from typing import Any

from allauth.account.forms import (
    ChangePasswordForm,
    LoginForm,
    ReauthenticateForm,
    ResetPasswordKeyForm,
    SetPasswordForm,
)
from django import forms

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


class ResetForm(_InOurWords, ResetPasswordKeyForm):  # type: ignore[misc]
    """Another one, by a link in a mail."""
