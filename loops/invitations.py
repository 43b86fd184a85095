"""Sends the e-mail that invites a person to a loop.

The names in it come from users, and the recipient may know neither them nor us. So each name stays
on one line: it must not look like another line or header of the e-mail.
"""

from smtplib import SMTPException

import structlog
from django.core.mail import EmailMessage
from django.template.loader import render_to_string

from accounts.models import User
from loops.models import Loop
from web.sanitize import to_one_line

log = structlog.get_logger(__name__)


def send_invitation(*, loop: Loop, inviter: User, email: str) -> bool:
    """Sends the invitation and returns whether the mail server accepted it.

    Call it after the invitation is committed.
    """
    inviter_name, loop_name = to_one_line(inviter.get_short_name()), to_one_line(loop.name)
    context = {
        "name": loop_name,
        "description": [to_one_line(line) for line in loop.description.splitlines()],
        "join_url": loop.join_url,
        "inviter": inviter_name,
        "address": inviter.email,
    }
    mail = EmailMessage(
        subject=f"{inviter_name} invites you to {loop_name}",
        body=render_to_string("loops/email/invitation.txt", context),
        to=[email],
        reply_to=[inviter.email],
    )
    try:
        return bool(mail.send())
    except (OSError, SMTPException, ValueError) as error:
        log.error("mail.failed", template="loops/email/invitation", error=str(error))
        return False
