"""Writes the email of a letter."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.base import BaseEmailBackend
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from accounts.time_zones import find_zone
from reviews.notifications.mail import unsubscribe_link
from reviews.plain_text import excerpt, extract_headline
from web.bidi import isolate
from web.humanize import format_long_moment
from web.languages import describe_language, known_or_english

MAX_REQUESTS = 10  # that an email describes; further ones are counted
MAX_EXCERPT = 300  # characters of a request


@dataclass(frozen=True, slots=True)
class Subject:
    """A claimed notification, with what an email says of its request."""

    notification_id: str
    failed_attempts: int
    call_id: str | None
    request_id: str
    loop_name: str
    text: str
    priority: str
    timeout_at: datetime


@dataclass(frozen=True, slots=True)
class Letter:
    """One email to one person, about several requests; the most urgent one comes first."""

    recipient_id: str
    email: str
    time_zone: str
    language: str
    subjects: tuple[Subject, ...] = ()


def compose(letter: Letter, server: BaseEmailBackend | None = None) -> EmailMultiAlternatives:
    """The email of a letter in its recipient's language, in text and HTML.

    It has an unsubscribe header (RFC 8058).
    """
    with translation.override(known_or_english(letter.language)):
        return _compose(letter, server)


def _compose(letter: Letter, server: BaseEmailBackend | None) -> EmailMultiAlternatives:
    link = unsubscribe_link.make(letter.recipient_id)
    zone = find_zone(letter.time_zone)
    context = {
        "requests": [describe(item, zone) for item in letter.subjects[:MAX_REQUESTS]],
        "more": max(0, len(letter.subjects) - MAX_REQUESTS),
        "inbox": settings.SITE_URL + reverse("inbox"),
        "settings": settings.SITE_URL + reverse("notifications"),
        "unsubscribe": link,
        **describe_language(),
    }
    mail = EmailMultiAlternatives(
        subject=subject(letter.subjects),
        body=render_to_string("reviews/mail.txt", context),
        to=[letter.email],
        connection=server,
        headers={
            "List-Unsubscribe": f"<{link}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            "Auto-Submitted": "auto-generated",
        },
    )
    mail.attach_alternative(render_to_string("reviews/mail.html", context), "text/html")
    return mail


def subject(items: tuple[Subject, ...]) -> str:
    """The headline of the first request, and how many others there are."""
    first = items[0]
    text = isolate(extract_headline(first.text, 70))
    if first.priority == "critical":
        text = _("Critical: %(question)s") % {"question": text}
    if others := len(items) - 1:
        text = _("%(question)s (and %(count)s more)") % {"question": text, "count": others}
    return text


def describe(item: Subject, zone: ZoneInfo) -> dict[str, Any]:
    """What an email says of a request."""
    return {
        "loop": excerpt(item.loop_name, 100),
        "beginning": excerpt(item.text, MAX_EXCERPT),
        "is_critical": item.priority == "critical",
        "deadline_text": format_long_moment(item.timeout_at.astimezone(zone)),
        "url": settings.SITE_URL + reverse("review", args=[item.request_id]),
    }
