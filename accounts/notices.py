"""Emails account holders about changes that a stranger could have made.

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
from django.utils import translation
from django.utils.translation import gettext_lazy as _lazy

from accounts.models import User
from accounts.sign_in_codes import can_send
from accounts.time_zones import find_zone
from accounts.user_agent import format_browser
from web.humanize import format_long_moment
from web.languages import known_or_english, translate
from web.sanitize import to_one_line

log = structlog.get_logger(__name__)

# The headline for each action; some are also in the audit log (accounts.actions).
HEADLINES = {
    "sign_in.new_browser": _lazy("A new browser signed in to your account"),
    "security.password_changed": _lazy("Your password was changed"),
    "security.password_reset": _lazy("Your password was reset"),
    "security.two_factor_on": _lazy("Two-factor sign-in was turned on"),
    "security.two_factor_off": _lazy("Two-factor sign-in was turned off"),
    "security.recovery_codes": _lazy("New recovery codes were created"),
    "security.passkey_added": _lazy("A passkey was added to your account"),
    "security.passkey_removed": _lazy("A passkey was removed from your account"),
    "account.email_added": _lazy("An email address was added to your account"),
    "account.email_changed": _lazy("The primary email address of your account was changed"),
    "account.email_removed": _lazy("An email address was removed from your account"),
    "account.erased": _lazy("Your account was deleted"),
    "key.created": _lazy("An API key was created"),
    "key.rolled": _lazy("An API key was rolled"),
    "endpoint.created": _lazy("A webhook endpoint was created"),
    "endpoint.edited": _lazy("The URL of a webhook endpoint was changed"),
    "endpoint.rotated": _lazy("The secret of a webhook endpoint was rotated"),
    "review_token.created": _lazy("A review token was created"),
    "webhook_secret.revealed": _lazy("Your webhook secret was revealed"),
    "webhook_secret.set": _lazy("Your webhook secret was replaced"),
    "webhook_secret.rotated": _lazy("Your webhook secret was rotated"),
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
    with translation.override(known_or_english(account.preferred_language)):
        emails = _write(account, action, subject, origin, recipients)
    transaction.on_commit(lambda: send(emails))


def _write(
    account: User, action: str, subject: str, origin: Origin | None, recipients: Iterable[str]
) -> list[EmailMessage]:
    """Writes one email for each address, in the active language."""
    headline = HEADLINES[action]
    moment = datetime.now(UTC).astimezone(find_zone(account.time_zone))
    context = {
        "headline": headline,
        "subject": to_one_line(subject),
        "when": format_long_moment(moment),
        "origin": origin and Origin(translate(origin.browser), origin.ip),
        "site_url": settings.SITE_URL,
        "is_final": action == "account.erased",
    }
    body = render_to_string("accounts/email/notice.txt", context)
    title = f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}{headline}"
    return [EmailMessage(title, body, to=[address]) for address in recipients]


def send(emails: Iterable[EmailMessage]) -> None:
    """Sends the emails; only logs a failure, because the change is already made."""
    for email in emails:
        try:
            email.send()
        except (OSError, SMTPException, ValueError) as error:
            log.error("mail.failed", template="accounts/email/notice", error=str(error))
