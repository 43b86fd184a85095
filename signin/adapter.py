"""Where django-allauth meets our accounts."""

from smtplib import SMTPException
from typing import Any
from urllib.parse import urlsplit

import structlog
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts import services, sessions
from accounts.audit import record
from accounts.emails import of_address, validate_address
from accounts.models import User

log = structlog.get_logger(__name__)

# What django-allauth notifies of, and how the audit log calls it.
NOTED = {
    "password_changed": "security.password_changed",
    "password_set": "security.password_changed",
    "password_reset": "security.password_reset",
    "totp_activated": "security.two_factor_on",
    "totp_deactivated": "security.two_factor_off",
    "recovery_codes_generated": "security.recovery_codes",
    "email_changed": "account.email_changed",
    "email_deleted": "account.email_removed",
}

FRESH_PASSWORD = {"security.password_changed", "security.password_reset"}

# What sending raises; ValueError where no mail goes to such an address.
UNDELIVERED = (OSError, SMTPException, ValueError)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Gives a newcomer the id that an invitation has reserved for the address."""

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        email = form.cleaned_data["email"].lower()
        user.id = services.reserved_id(email) or user.id
        user.name = form.cleaned_data.get("name", "")
        try:
            with transaction.atomic():
                saved: User = super().save_user(request, user, form, commit)
        except IntegrityError:  # the form was sent twice at once
            messages.info(request, "Account created. Please sign in.")
            raise ImmediateHttpResponse(redirect("account_login")) from None
        return saved

    def clean_email(self, email: str) -> str:
        validate_address(email)
        return email

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Nobody is kept out because the mail server is."""
        try:
            self.deliver(template_prefix, email, context)
        except UNDELIVERED as error:
            log.error("mail.failed", template=template_prefix, error=str(error))

    def deliver(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Builds links with SITE_URL. Goes to the address as accounts are found by it, however it
        was typed. Raises one of UNDELIVERED."""
        here = {
            name: on_site(value) if name.endswith("_url") else value
            for name, value in context.items()
        }
        super().send_mail(template_prefix, email.lower(), {**here, "site_url": settings.SITE_URL})

    def get_login_stages(self) -> list[str]:
        return [*super().get_login_stages(), "signin.code_stage.ConfirmAddress"]

    def post_login(self, request: HttpRequest, user: User, **options: Any) -> HttpResponse:
        """Signed in, after the second step where there is one."""
        ip = self.get_client_ip(request)
        if options["signup"]:
            record(account_id=user.pk, actor_id=user.pk, action="account.created", ip=ip)
        else:
            record(account_id=user.pk, actor_id=user.pk, action="sign_in.done", ip=ip)
        response: HttpResponse = super().post_login(request, user, **options)
        sessions.admit(request, user.pk)
        return response

    def logout(self, request: HttpRequest) -> None:
        """By the person; nothing that belongs to this browser outlives it."""
        sessions.tell_ended(str(request.user.pk), [dict(request.session.items())])
        super().logout(request)

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        """A wrong password; django-allauth limits how often."""
        email = credentials.get("email") or ""
        account_id = User.objects.filter(of_address(email)).values_list("pk", flat=True).first()
        if account_id is not None:
            ip = self.get_client_ip(request)
            record(account_id=account_id, actor_id=None, action="sign_in.failed", ip=ip)

    def send_notification_mail(
        self,
        template_prefix: str,
        user: User,
        context: dict[str, Any] | None = None,
        email: str | None = None,
    ) -> None:
        """Every change to how somebody signs in passes here: it goes to the audit log."""
        action = NOTED.get(template_prefix.rpartition("/")[2])
        if action is not None:
            told = context or {}
            subject = told.get("to_email") or told.get("deleted_email") or ""
            record(account_id=user.pk, actor_id=user.pk, action=action, subject=subject)
        if action in FRESH_PASSWORD:  # whoever knew the old one is out
            is_here = self.request.user == user
            kept = self.request.session.session_key if is_here else None
            sessions.end_sessions(user.pk, but=kept)
            if is_here:
                sessions.ensure_listed(self.request)
        super().send_notification_mail(template_prefix, user, context, email)

    def get_client_ip(self, request: HttpRequest) -> str:
        return str(request.META["REMOTE_ADDR"])  # web.middleware knows about proxies


def on_site(url: str) -> str:
    """The address with SITE_URL in front, whatever host the browser named."""
    parts = urlsplit(url)
    return f"{settings.SITE_URL}{parts.path}" + (f"?{parts.query}" if parts.query else "")
