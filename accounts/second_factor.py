"""Where django-allauth's two-factor sign-in meets our accounts."""

from typing import Any

from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY, generate_totp_secret
from django import forms
from django.core.exceptions import ValidationError

from accounts import vault
from accounts.audit import record


class TwoFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Keeps the secrets of authenticator apps and recovery codes encrypted."""

    def encrypt(self, text: str) -> str:
        return vault.seal(text).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return vault.open_sealed(encrypted_text.encode())


class ActivationForm(ActivateTOTPForm):  # type: ignore[misc]
    """The first code of an app. Until it is given, the session keeps the secret, encrypted too."""

    def __init__(self, *args: Any, user: Any, **options: Any) -> None:
        forms.Form.__init__(self, *args, **options)
        self.user = user
        session = context.request.session
        sealed = session.get(SECRET_SESSION_KEY) if self.is_bound else None
        if sealed is None:
            sealed = session[SECRET_SESSION_KEY] = vault.seal(generate_totp_secret()).decode()
        self.secret = vault.open_sealed(sealed.encode())


class _Noting:
    """A code that is wrong stands in the audit log."""

    def clean_code(self) -> str:
        try:
            return str(super().clean_code())  # type: ignore[misc]
        except ValidationError as error:
            if error.code == "incorrect_code":
                pk = self.user.pk  # type: ignore[attr-defined]
                record(account_id=pk, actor_id=None, action="security.second_step_failed")
            raise


class SecondStepForm(_Noting, AuthenticateForm):  # type: ignore[misc]
    """The code that follows the password."""


class ConfirmForm(_Noting, ReauthenticateForm):  # type: ignore[misc]
    """The code that is asked for again before something delicate."""
