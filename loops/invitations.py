"""The mail that tells an invited person where to join."""

from smtplib import SMTPException

import structlog
from django.core.mail import EmailMessage
from django.template.loader import render_to_string

from accounts.models import User
from loops.models import Loop

log = structlog.get_logger(__name__)


def send_invitation(*, loop: Loop, inviter: User, email: str) -> bool:
    """Whether the mail server took it. To be called once the invitation is committed."""
    who = inviter.get_short_name()
    words = {"loop": loop, "inviter": who, "address": inviter.email}
    subject = f"{who} invites you to {loop.name}"
    mail = EmailMessage(
        subject=" ".join(subject.split()),  # a line break would end the header
        body=render_to_string("loops/email/invitation.txt", words),
        to=[email],
        reply_to=[inviter.email],
    )
    try:
        return bool(mail.send())
    except (OSError, SMTPException, ValueError) as error:
        log.error("mail.failed", template="loops/email/invitation", error=str(error))
        return False
