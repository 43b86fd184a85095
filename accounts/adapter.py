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
from django.http import HttpRequest
from django.shortcuts import redirect

from accounts import services
from accounts.models import User

log = structlog.get_logger(__name__)


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
            messages.info(request, "This account exists now: sign in.")
            raise ImmediateHttpResponse(redirect("account_login")) from None
        return saved

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Builds links with SITE_URL. Nobody is kept out because the mail server is."""
        here = {
            name: on_site(value) if name.endswith("_url") else value
            for name, value in context.items()
        }
        try:
            super().send_mail(template_prefix, email, {**here, "site_url": settings.SITE_URL})
        except (OSError, SMTPException) as error:
            log.error("mail.failed", template=template_prefix, error=str(error))

    def get_client_ip(self, request: HttpRequest) -> str:
        return str(request.META["REMOTE_ADDR"])  # config.middleware knows about proxies


def on_site(url: str) -> str:
    """The address with SITE_URL in front, whatever host the browser named."""
    parts = urlsplit(url)
    return f"{settings.SITE_URL}{parts.path}" + (f"?{parts.query}" if parts.query else "")
