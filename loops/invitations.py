"""Sends the email that invites a person to a loop.

The recipient may know neither the sender nor us. The email therefore has no text of the sender but
two names without links, and inviters have to confirm their own address first.
"""

from smtplib import SMTPException

import structlog
from allauth.account.models import EmailAddress
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from accounts.confirmed import lacks_confirmation
from accounts.emails import fold_address
from accounts.models import User
from loops.models import Loop
from web.bidi import isolate
from web.languages import ENGLISH, known_or_english
from web.sanitize import to_plain_name

log = structlog.get_logger(__name__)


class InviterUnconfirmed(Exception):
    """The inviter has to confirm their own address first."""


def check_inviter(user: User) -> None:
    """Raises InviterUnconfirmed. Call it before the invitation is stored."""
    if lacks_confirmation(user):
        raise InviterUnconfirmed


def send_invitation(*, loop: Loop, inviter: User, email: str) -> bool:
    """Sends the invitation and returns whether the mail server accepted it.

    Call it after the invitation is committed. Raises InviterUnconfirmed.
    """
    check_inviter(inviter)
    with translation.override(choose_language(email)):
        mail = write_invitation(loop=loop, inviter=inviter, email=email)
    try:
        return bool(mail.send())
    except (OSError, SMTPException, ValueError) as error:
        log.error("mail.failed", template="loops/email/invitation", error=str(error))
        return False


def choose_language(email: str) -> str:
    """Returns the language of the account that confirmed the address, else that of this page."""
    addresses = EmailAddress.objects.filter(email=fold_address(email), verified=True)
    confirmed = addresses.select_related("user").first()
    if confirmed is not None:
        return known_or_english(confirmed.user.preferred_language)
    return translation.get_language() or ENGLISH


def write_invitation(*, loop: Loop, inviter: User, email: str) -> EmailMessage:
    """Writes the email of an invitation, in the language that is active."""
    names = {
        "inviter": isolate(to_plain_name(inviter.get_short_name()) or _("Someone")),
        "name": isolate(to_plain_name(loop.name) or _("a loop")),
    }
    context = {**names, "join_url": loop.join_url, "address": inviter.email}
    return EmailMessage(
        subject=_("{inviter} invites you to {name}").format(**names),
        body=render_to_string("loops/email/invitation.txt", context),
        to=[email],
        reply_to=[inviter.email],
    )
