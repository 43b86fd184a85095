"""Emails account holders about changes that somebody else could have made.

An email goes to every confirmed address, in the same words for all changes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from smtplib import SMTPException

import structlog
from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.http import HttpRequest
from django.template.loader import render_to_string

from accounts.models import User
from accounts.sign_in_codes import can_send
from accounts.time_zones import find_zone
from accounts.user_agent import format_browser
from web.sanitize import to_one_line

log = structlog.get_logger(__name__)

# The headline for each action; some are also in the audit log (accounts.actions).
HEADLINES = {
    "sign_in.new_browser": "A new browser signed in to your account",
    "security.password_changed": "Your password was changed",
    "security.password_reset": "Your password was reset",
    "security.two_factor_on": "Two-factor sign-in was turned on",
    "security.two_factor_off": "Two-factor sign-in was turned off",
    "security.recovery_codes": "New recovery codes were created",
    "security.passkey_added": "A passkey was added to your account",
    "security.passkey_removed": "A passkey was removed from your account",
    "account.email_added": "An email address was added to your account",
    "account.email_changed": "The primary email address of your account was changed",
    "account.email_removed": "An email address was removed from your account",
    "key.created": "An API key was created",
    "key.rolled": "An API key was rolled",
    "webhook_secret.revealed": "Your webhook secret was revealed",
    "webhook_secret.set": "Your webhook secret was replaced",
    "webhook_secret.rotated": "Your webhook secret was rotated",
}


@dataclass(frozen=True, slots=True)
class Origin:
    """The browser and the IP address that a change came from."""

    browser: str
    ip: str


def read_origin(request: HttpRequest) -> Origin:
    browser = format_browser(request.META.get("HTTP_USER_AGENT", ""))
    return Origin(browser, request.META["REMOTE_ADDR"])


def notify(
    *,
    account: User,
    action: str,
    subject: str = "",
    origin: Origin | None = None,
    recipients: Iterable[str] | None = None,
) -> None:
    """Emails the account's confirmed addresses, or only `recipients`, after the commit.

    `subject` names what changed. Without an `origin`, the operator made the change. Does nothing if
    the service cannot send email.
    """
    if not can_send():
        return
    if recipients is None:
        confirmed = EmailAddress.objects.filter(user_id=account.pk, verified=True)
        recipients = confirmed.order_by("pk").values_list("email", flat=True)
    headline = HEADLINES[action]
    context = {
        "headline": headline,
        "subject": to_one_line(subject),
        "moment": datetime.now(UTC).astimezone(find_zone(account.time_zone)),
        "origin": origin,
        "site_url": settings.SITE_URL,
    }
    body = render_to_string("accounts/email/notice.txt", context)
    title = f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}{headline}"
    emails = [EmailMessage(title, body, to=[address]) for address in recipients]
    transaction.on_commit(lambda: send(emails))


def send(emails: Iterable[EmailMessage]) -> None:
    """Sends the emails; a failure is only logged, because the change is made already."""
    for email in emails:
        try:
            email.send()
        except (OSError, SMTPException, ValueError) as error:
            log.error("mail.failed", template="accounts/email/notice", error=str(error))
