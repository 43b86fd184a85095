"""Where django-allauth's two-factor sign-in meets our accounts."""

from collections.abc import Iterable
from typing import Any

from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY, generate_totp_secret
from django import forms
from django.core.exceptions import ValidationError

from accounts import vault
from accounts.audit import record


class TwoFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Keeps the secrets of authenticator apps and recovery codes encrypted, and looks once what
    somebody has turned on: django-allauth's pages ask for one kind after another, and again."""

    def encrypt(self, text: str) -> str:
        return vault.seal(text).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return vault.open_sealed(encrypted_text.encode())

    def is_mfa_enabled(self, user: Any, types: Iterable[str] | None = None) -> bool:
        if user.is_anonymous:
            return False
        has = kinds_of(user.pk)
        return bool(has if types is None else has.intersection(types))


def kinds_of(user_id: str) -> set[str]:
    """The kinds of second factor that somebody has. A page that only shows something reads them
    once; what changes them reads them anew."""
    http = context.request
    known: dict[str, set[str]] = {}
    if http is not None and http.method in ("GET", "HEAD"):
        known = vars(http).setdefault("second_factors", known)
    if user_id not in known:
        rows = Authenticator.objects.filter(user_id=user_id)
        known[user_id] = set(rows.values_list("type", flat=True))
    return known[user_id]


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
