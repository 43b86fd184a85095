"""Adapts django-allauth to our accounts, audit log and sessions."""

from smtplib import SMTPException
from typing import Any, ClassVar
from urllib.parse import urlsplit

import structlog
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from accounts import sessions, sign_in_codes
from accounts.audit import record
from accounts.code_services import find_holder
from accounts.emails import validate_address
from accounts.models import User
from accounts.notices import notify, read_origin
from accounts.secured import AccountSecured, lock_account
from accounts.sign_in_codes import find_confirming_address
from signin import guessing, known_browsers
from signin.proof import mark_creator
from signin.sign_up_rules import is_closed
from web.guards import leave_stale_page
from web.languages import ENGLISH, known_or_english
from web.reauthentication import require_confirmation

log = structlog.get_logger(__name__)

# The actions of the audit log for django-allauth's notifications.
AUDIT_ACTIONS = {
    "password_changed": "security.password_changed",
    "password_set": "security.password_changed",
    "password_reset": "security.password_reset",
    "totp_activated": "security.two_factor_on",
    "totp_deactivated": "security.two_factor_off",
    "recovery_codes_generated": "security.recovery_codes",
    "webauthn_added": "security.passkey_added",
    "webauthn_removed": "security.passkey_removed",
    "email_changed": "account.email_changed",
    "email_deleted": "account.email_removed",
}

# How people can confirm who they are.
METHODS = {
    "reauthenticate": _lazy("Use your password"),
    "mfa_reauthenticate": _lazy("Use an authenticator app or a recovery code"),
    "mfa_reauthenticate:webauthn": _lazy("Use a passkey"),
}

CODE_EMAIL = "account/email/login_code"
SENT_MESSAGE = "account/messages/email_confirmation_sent.txt"
PASSWORD_ACTIONS = {"security.password_changed", "security.password_reset"}

# The errors of sending; ValueError means an address to which email cannot be sent.
UNDELIVERED = (OSError, SMTPException, ValueError)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Connects django-allauth to our accounts."""

    error_messages: ClassVar[dict[str, Any]] = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": _lazy("Wrong email address or password"),
        "enter_current_password": _lazy("Wrong password"),
        "incorrect_password": _lazy("Wrong password"),
    }

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        user.name = form.cleaned_data.get("name", "")
        try:
            with transaction.atomic():
                saved: User = super().save_user(request, user, form, commit)
        except IntegrityError:  # two copies of the form came concurrently
            messages.info(request, _("Account created. Please sign in."))
            raise ImmediateHttpResponse(redirect("account_login")) from None
        return saved

    def set_password(self, user: User, password: str) -> None:
        """Sets a password, unless the account got another one or was deleted meanwhile.

        Hashing takes a while, so `user` may be out of date: only the password is written.
        """
        recognized = User(pk=user.pk, password=user.password)
        user.set_password(password)
        try:
            with transaction.atomic():
                lock_account(recognized)
                user.save(update_fields=["password"])
        except AccountSecured as secured:
            raise ImmediateHttpResponse(leave_stale_page(self.request, secured)) from None

    def is_safe_url(self, url: str | None) -> bool:
        """Tells whether a page may redirect to the URL; False for an invalid one, such as `//[`."""
        try:
            return bool(super().is_safe_url(url))
        except ValueError:
            return False

    def get_login_stages(self) -> list[str]:
        """Adds a last stage, which ends a sign-in whose password was changed meanwhile."""
        return [*super().get_login_stages(), "signin.mfa.UnchangedPassword"]

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return not is_closed()

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        *args: Any,
        **options: Any,
    ) -> None:
        """Adds a message, except one about a sent email if the service cannot send any."""
        if message_template == SENT_MESSAGE and not sign_in_codes.can_send():
            return
        super().add_message(request, level, message_template, *args, **options)

    def clean_email(self, email: str) -> str:
        validate_address(email)
        return email

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Sends an email. Only logs a failure, because it must not prevent a sign-in."""
        try:
            self.deliver(template_prefix, email, context)
        except UNDELIVERED as error:
            log.error("mail.failed", template=template_prefix, error=str(error))

    def deliver(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Sends an email to the address in lowercase; its links start with SITE_URL.

        Raises one of UNDELIVERED.
        """
        values = {
            name: build_site_url(value) if value and name.endswith("_url") else value
            for name, value in context.items()
        }
        values["site_url"] = settings.SITE_URL
        with translation.override(self.choose_language(context.get("user"))):
            super().send_mail(template_prefix, email.lower(), values)

    def choose_language(self, user: Any) -> str:
        """Returns the language of the person, or of this page for somebody without an account."""
        if isinstance(user, User):
            return known_or_english(user.preferred_language)
        return translation.get_language() or ENGLISH

    def render_mail(self, template_prefix: str, *args: Any, **options: Any) -> Any:
        """Renders an email. A sign-in code's email expires with the code."""
        mail = super().render_mail(template_prefix, *args, **options)
        if template_prefix == CODE_EMAIL:
            mail.life = sign_in_codes.LIFE  # for mailing.backend
        return mail

    def post_login(self, request: HttpRequest, user: User, **options: Any) -> HttpResponse:
        """Records the sign-in, after the second step if there is one."""
        ip = self.get_client_ip(request)
        if options["signup"]:
            record(account_id=user.pk, actor_id=user.pk, action="account.created", ip=ip)
            mark_creator(request, user)
        else:
            record(account_id=user.pk, actor_id=user.pk, action="sign_in.done", ip=ip)
        response: HttpResponse = super().post_login(request, user, **options)
        sessions.register_session(request, user.pk)
        if not options["signup"] and not known_browsers.is_known(request, user.pk):
            notify(account=user, action="sign_in.new_browser", origin=read_origin(request))
        known_browsers.remember(request, response, user.pk)
        return response

    def logout(self, request: HttpRequest) -> None:
        """Signs the person out and removes the data of this browser."""
        sessions.notify_sign_out(str(request.user.pk), [dict(request.session.items())])
        super().logout(request)

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Counts a try of a password. Raises ValidationError above the limit."""
        self._login_failed_rl_usage = guessing.count_password(
            request, credentials.get("email") or ""
        )
        if self._login_failed_rl_usage is None:
            raise self.validation_error("too_many_login_attempts")

    def _delete_login_attempts_cached_email(self, request: HttpRequest, **credentials: Any) -> None:
        guessing.forget_passwords(request, credentials["email"])

    def is_reauthentication_required(self, *, app: str, **options: Any) -> bool:
        """Raises ReauthenticationRequired by our rule instead of django-allauth's."""
        require_confirmation(self.request)
        return False

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """Offers an emailed code to people who have no other means."""
        methods: list[dict[str, Any]] = [
            {**method, "description": METHODS[method["id"]]}
            for method in super().get_reauthentication_methods(user)
        ]
        if not methods and user.is_authenticated and find_confirming_address(user):
            url = reverse("confirm-by-code")
            methods.append({"id": "code", "description": _("Use an email code"), "url": url})
        return methods

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        """Records a wrong password for the address's account; django-allauth limits the tries."""
        holder = find_holder(credentials.get("email") or "")
        if holder is not None:
            ip = self.get_client_ip(request)
            record(account_id=holder.user.pk, actor_id=None, action="sign_in.failed", ip=ip)

    def send_notification_mail(
        self,
        template_prefix: str,
        user: User,
        context: dict[str, Any] | None = None,
        email: str | None = None,
    ) -> None:
        """Records every change of the sign-in data in the audit log, and emails the person."""
        action = AUDIT_ACTIONS.get(template_prefix.rpartition("/")[2])
        if action is not None:
            details = context or {}
            subject = details.get("to_email") or details.get("deleted_email") or ""
            record(account_id=user.pk, actor_id=user.pk, action=action, subject=subject)
            origin = read_origin(self.request)
            notify(account=user, action=action, subject=subject, origin=origin)
        if action in PASSWORD_ACTIONS:  # sign out all browsers that used the old password
            is_here = self.request.user == user
            current = self.request.session.session_key if is_here else None
            sessions.end_sessions(user.pk, except_key=current)
            if is_here:
                sessions.ensure_listed(self.request)

    def get_client_ip(self, request: HttpRequest) -> str:
        return str(request.META["REMOTE_ADDR"])  # set by web.middleware.TrustedProxyMiddleware


def build_site_url(url: str) -> str:
    """Replaces the host of the URL by SITE_URL, whatever host the browser sent."""
    parts = urlsplit(url)
    return f"{settings.SITE_URL}{parts.path}" + (f"?{parts.query}" if parts.query else "")
