"""Where django-allauth's two-factor sign-in meets our accounts."""

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base import forms
from django.core.exceptions import ValidationError

from accounts import vault
from accounts.audit import record


class TwoFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Keeps the secrets of authenticator apps and recovery codes encrypted."""

    def encrypt(self, text: str) -> str:
        return vault.seal(text).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return vault.open_sealed(encrypted_text.encode())


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


class SecondStepForm(_Noting, forms.AuthenticateForm):  # type: ignore[misc]
    """The code that follows the password."""


class ConfirmForm(_Noting, forms.ReauthenticateForm):  # type: ignore[misc]
    """The code that is asked for again before something delicate."""
