"""Turns an email into text that can be stored, and back."""

import base64
import json
from email.utils import formatdate, make_msgid
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.mail.message import EmailMessage, sanitize_address

PLAIN = ("subject", "body", "from_email", "to", "cc", "bcc", "reply_to", "extra_headers")


def to_text(mail: EmailMessage) -> str:
    """The email as JSON, with a Message-ID and a date that every attempt has.

    Raises ValueError for what no mail server would take.
    """
    add_headers(mail)
    check(mail)
    stored: dict[str, Any] = {name: getattr(mail, name) for name in PLAIN}
    stored["subject"], stored["body"] = str(mail.subject), str(mail.body)
    stored["content_subtype"] = mail.content_subtype
    alternatives = getattr(mail, "alternatives", [])
    stored["alternatives"] = [[str(content), kind] for content, kind in alternatives]
    stored["attachments"] = [store_attachment(each) for each in mail.attachments]
    return json.dumps(stored)


def to_message(text: str) -> EmailMultiAlternatives:
    """The email that `to_text` stored."""
    stored = json.loads(text)
    mail = EmailMultiAlternatives(
        subject=stored["subject"],
        body=stored["body"],
        from_email=stored["from_email"],
        to=stored["to"],
        cc=stored["cc"],
        bcc=stored["bcc"],
        reply_to=stored["reply_to"],
        headers=stored["extra_headers"],
    )
    mail.content_subtype = stored["content_subtype"]
    for content, kind in stored["alternatives"]:
        mail.attach_alternative(content, kind)
    for name, content, kind in stored["attachments"]:
        mail.attach(name, base64.b64decode(content), kind)
    return mail


def add_headers(mail: EmailMessage) -> None:
    """Django would look up this host's name for the Message-ID, and nobody may wait for that."""
    known = {name.lower() for name in mail.extra_headers}
    host = urlsplit(settings.SITE_URL).hostname
    if "message-id" not in known:
        mail.extra_headers["Message-ID"] = make_msgid(domain=host)
    if "date" not in known:
        mail.extra_headers["Date"] = formatdate(localtime=settings.EMAIL_USE_LOCALTIME)


def check(mail: EmailMessage) -> None:
    """Raises ValueError where a header has a line break, or an address cannot be written."""
    mail.message()
    for address in (mail.from_email, *mail.recipients()):
        sanitize_address(address, mail.encoding or settings.DEFAULT_CHARSET)


def store_attachment(attachment: Any) -> list[str | None]:
    """Raises ValueError for anything but text or bytes."""
    name, content, kind = attachment if isinstance(attachment, tuple) else (None, None, None)
    if isinstance(content, str):
        content = content.encode()
    if not isinstance(content, bytes):
        raise ValueError("Only attachments of text or bytes can be queued.")
    return [name, base64.b64encode(content).decode(), kind]
