"""The mail that tells an invited person where to join.

Names are what somebody typed, and the recipient knows neither them nor us: no name may look like
another line of the mail, or like another header.
"""

from smtplib import SMTPException

import structlog
from django.core.mail import EmailMessage
from django.template.loader import render_to_string

from accounts.models import User
from loops.models import Loop
from web.sanitize import one_line

log = structlog.get_logger(__name__)


def send_invitation(*, loop: Loop, inviter: User, email: str) -> bool:
    """Whether the mail server took it. To be called once the invitation is committed."""
    who, name = one_line(inviter.get_short_name()), one_line(loop.name)
    words = {
        "name": name,
        "description": [one_line(line) for line in loop.description.splitlines()],
        "join_url": loop.join_url,
        "inviter": who,
        "address": inviter.email,
    }
    mail = EmailMessage(
        subject=f"{who} invites you to {name}",
        body=render_to_string("loops/email/invitation.txt", words),
        to=[email],
        reply_to=[inviter.email],
    )
    try:
        return bool(mail.send())
    except (OSError, SMTPException, ValueError) as error:
        log.error("mail.failed", template="loops/email/invitation", error=str(error))
        return False
