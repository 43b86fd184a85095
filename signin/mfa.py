"""Adapts django-allauth's two-factor sign-in: encrypted secrets, fewer queries, audit log."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from allauth.account.internal.stagekit import unstash_login
from allauth.account.stages import LoginStage
from allauth.core import context
from allauth.core.internal.cryptokit import normalize_user_code
from allauth.mfa import app_settings
from allauth.mfa.adapter import DefaultMFAAdapter, get_adapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY, generate_totp_secret
from django import forms
from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts import vault
from accounts.audit import record
from accounts.models import User
from accounts.secured import AccountSecured
from accounts.user_agent import format_browser
from web.guards import leave_stale_page
from web.pasted import clean_code

CODE_LIFETIME = app_settings.TOTP_PERIOD * (2 * app_settings.TOTP_TOLERANCE + 1)  # seconds


class TwoFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Encrypts the secrets of authenticator apps and recovery codes, and saves queries.

    django-allauth's pages check the kinds of second factor one by one, and repeatedly. This reads
    all of them at once.
    """

    def encrypt(self, text: str) -> str:
        return vault.seal(text).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return vault.open_sealed(encrypted_text.encode())

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Binds passkeys to the host of SITE_URL, whatever host the browser sent."""
        return {"id": str(urlsplit(settings.SITE_URL).hostname), "name": "Review Loop"}

    def generate_authenticator_name(self, user: Any, type: Any) -> str:
        """Suggests a name for a new passkey."""
        return format_browser(context.request.META.get("HTTP_USER_AGENT", ""), unknown=_("Passkey"))

    def is_mfa_enabled(self, user: Any, types: Iterable[str] | None = None) -> bool:
        if user.is_anonymous:
            return False
        enabled = read_factor_types(user.pk)
        return bool(enabled if types is None else enabled.intersection(types))


def read_factor_types(user_id: str) -> set[str]:
    """Returns the kinds of second factor of a person.

    During GET and HEAD they are read once; other requests may change them, so they read again.
    """
    request = context.request
    types_by_user: dict[str, set[str]] = {}
    if request is not None and request.method in ("GET", "HEAD"):
        types_by_user = vars(request).setdefault("second_factors", types_by_user)
    if user_id not in types_by_user:
        rows = Authenticator.objects.filter(user_id=user_id)
        types_by_user[user_id] = set(rows.values_list("type", flat=True))
    return types_by_user[user_id]


class ActivationForm(ActivateTOTPForm):  # type: ignore[misc]
    """The first code of an authenticator app. Before it, the session holds the encrypted secret."""

    def __init__(self, *args: Any, user: Any, **options: Any) -> None:
        forms.Form.__init__(self, *args, **options)
        self.user = user
        session = context.request.session
        sealed = session.get(SECRET_SESSION_KEY) if self.is_bound else None
        if sealed is None:
            sealed = session[SECRET_SESSION_KEY] = vault.seal(generate_totp_secret()).decode()
        self.secret = vault.open_sealed(sealed.encode())

    def clean_code(self) -> str:
        self.cleaned_data["code"] = clean_code(self.cleaned_data["code"])
        return str(super().clean_code())


class _ChecksCode:
    """Accepts each code once, and records wrong codes in the audit log.

    django-allauth forgets a code of an authenticator app after one step of 30 s, but takes it for
    MFA_TOTP_TOLERANCE more steps before and after.
    """

    user: User
    cleaned_data: dict[str, Any]

    def clean_code(self) -> str:
        try:
            self.cleaned_data["code"] = clean_code(self.cleaned_data["code"])
            code = str(super().clean_code())  # type: ignore[misc]
            key = f"signin.used_code:{self.user.pk}:{normalize_user_code(code)}"
            if not cache.add(key, True, timeout=CODE_LIFETIME):
                raise get_adapter().validation_error("incorrect_code")
        except ValidationError as error:
            if error.code == "incorrect_code":
                record(account_id=self.user.pk, actor_id=None, action="security.second_step_failed")
            raise
        return code


class TotpSecondStepForm(_ChecksCode, AuthenticateForm):  # type: ignore[misc]
    """Asks for the code after the password."""


class TotpReauthForm(_ChecksCode, ReauthenticateForm):  # type: ignore[misc]
    """Asks for a code again before a sensitive action."""


class UnchangedPassword(LoginStage):  # type: ignore[misc]
    """Ends a sign-in in its last stage if the password has changed since its start."""

    key = "unchanged_password"

    def __init__(self, controller: Any, request: HttpRequest, login: Any) -> None:
        super().__init__(controller, request, login)
        self.state.setdefault("began_with", login.user.get_session_auth_hash())

    def handle(self) -> tuple[HttpResponse | None, bool]:
        if self.state["began_with"] == self.login.user.get_session_auth_hash():
            return None, True
        return leave_stale_page(self.request, AccountSecured()), False


class SecondStep(AuthenticateView):  # type: ignore[misc]
    """Asks for the second factor of a sign-in.

    Ends the sign-in if the person has no second factor any more: the password page would lead back
    here.
    """

    def dispatch(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        response: HttpResponse = super().dispatch(request, *args, **options)
        if response.get("Location") == reverse("account_login"):
            unstash_login(request)
        return response

    def post(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        """Checks the code with the account locked: nobody turns the factor off meanwhile."""
        with transaction.atomic():
            User.objects.select_for_update(no_key=True).get(pk=self.stage.login.user.pk)
            response: HttpResponse = super().post(request, *args, **options)
        return response
