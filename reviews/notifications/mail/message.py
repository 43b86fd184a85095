"""Writes the email of a batch."""

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
from reviews.notifications.mail.outbox import Batch, Item
from reviews.plain_text import excerpt, extract_headline
from web.bidi import isolate
from web.humanize import format_long_moment
from web.languages import describe_language, known_or_english

MAX_REQUESTS = 10  # that an email describes; further ones are counted
MAX_EXCERPT = 300  # characters of a request


def compose(batch: Batch, server: BaseEmailBackend | None = None) -> EmailMultiAlternatives:
    """The email of a batch in its recipient's language, in text and HTML.

    It has an unsubscribe header (RFC 8058).
    """
    with translation.override(known_or_english(batch.language)):
        return _compose(batch, server)


def _compose(batch: Batch, server: BaseEmailBackend | None) -> EmailMultiAlternatives:
    link = unsubscribe_link.make(batch.recipient_id)
    zone = find_zone(batch.time_zone)
    context = {
        "requests": [describe(item, zone) for item in batch.items[:MAX_REQUESTS]],
        "more": max(0, len(batch.items) - MAX_REQUESTS),
        "inbox": settings.SITE_URL + reverse("inbox"),
        "settings": settings.SITE_URL + reverse("notifications"),
        "unsubscribe": link,
        **describe_language(),
    }
    mail = EmailMultiAlternatives(
        subject=subject(batch.items),
        body=render_to_string("reviews/mail.txt", context),
        to=[batch.email],
        connection=server,
        headers={
            "List-Unsubscribe": f"<{link}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            "Auto-Submitted": "auto-generated",
        },
    )
    mail.attach_alternative(render_to_string("reviews/mail.html", context), "text/html")
    return mail


def subject(items: list[Item]) -> str:
    """The headline of the first request, and how many others there are."""
    first = items[0]
    text = isolate(extract_headline(first.text, 70))
    if first.priority == "critical":
        text = _("Critical: %(question)s") % {"question": text}
    if others := len(items) - 1:
        text = _("%(question)s (and %(count)s more)") % {"question": text, "count": others}
    return text


def describe(item: Item, zone: ZoneInfo) -> dict[str, Any]:
    """What an email says of a request."""
    return {
        "loop": excerpt(item.loop_name, 100),
        "beginning": excerpt(item.text, MAX_EXCERPT),
        "is_critical": item.priority == "critical",
        "deadline_text": format_long_moment(item.timeout_at.astimezone(zone)),
        "url": settings.SITE_URL + reverse("review", args=[item.request_id]),
    }
