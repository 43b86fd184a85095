"""Writes the email of a batch."""

from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.base import BaseEmailBackend
from django.template.loader import render_to_string
from django.urls import reverse

from reviews.notifications.mail import unsubscribe_link
from reviews.notifications.mail.outbox import Batch, Item
from reviews.plain_text import excerpt, extract_headline

MAX_REQUESTS = 10  # that an email describes; further ones are counted
MAX_EXCERPT = 300  # characters of a request


def compose(batch: Batch, server: BaseEmailBackend | None = None) -> EmailMultiAlternatives:
    """The email of a batch, in text and HTML, with an unsubscribe header (RFC 8058)."""
    link = unsubscribe_link.make(batch.recipient_id)
    context = {
        "requests": [describe(item) for item in batch.items[:MAX_REQUESTS]],
        "more": max(0, len(batch.items) - MAX_REQUESTS),
        "zone": ZoneInfo(batch.time_zone),
        "inbox": settings.SITE_URL + reverse("inbox"),
        "settings": settings.SITE_URL + reverse("notifications"),
        "unsubscribe": link,
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
    mark = "Critical: " if first.priority == "critical" else ""
    others = f" (and {len(items) - 1} more)" if len(items) > 1 else ""
    return f"{mark}{extract_headline(first.text, 70)}{others}"


def describe(item: Item) -> dict[str, Any]:
    """What an email says of a request."""
    return {
        "loop": excerpt(item.loop_name, 100),
        "beginning": excerpt(item.text, MAX_EXCERPT),
        "is_critical": item.priority == "critical",
        "deadline": item.timeout_at,
        "url": settings.SITE_URL + reverse("review", args=[item.request_id]),
    }
