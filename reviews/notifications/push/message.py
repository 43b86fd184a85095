"""Writes a push: declarative JSON, encrypted for one subscription (RFC 8030, RFC 8291)."""

import base64
from dataclasses import dataclass

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from db.columns import dumps
from reviews.notifications.push import vapid
from reviews.plain_text import MAX_EXCERPT, excerpt, extract_headline
from web.languages import known_or_english

MAX_TTL = 28 * 24 * 3600  # seconds; what push services keep at most
URGENCY = {"critical": "high", "high": "high", "medium": "normal", "low": "low"}


@dataclass(frozen=True, slots=True)
class Target:
    """Where a push goes, and the keys of the browser that reads it."""

    subscription_id: str
    endpoint: str
    host: str
    p256dh: str
    auth: str


@dataclass(frozen=True, slots=True)
class Message:
    """What a notification shows, and how urgent it is.

    It replaces an undelivered one of the same `topic`, and expires after `seconds_left`.
    """

    title: str
    body: str
    url: str
    topic: str
    priority: str
    seconds_left: float
    language: str

    @property
    def payload(self) -> bytes:
        """The declarative form, which some browsers show without a service worker."""
        notification = {
            "title": self.title,
            "body": self.body,
            "navigate": self.url,
            "tag": self.topic,
            "lang": self.language,
            "requireInteraction": self.priority == "critical",
        }
        return dumps({"web_push": 8030, "notification": notification}).encode()


def about_request(
    *,
    request_id: str,
    loop_name: str,
    text: str,
    priority: str,
    seconds_left: float,
    language: str,
) -> Message:
    """Builds the message that a request waits, with its headline."""
    title = excerpt(loop_name, 60)
    language = known_or_english(language)
    if priority == "critical":
        with translation.override(language):
            title = _("Critical · %(loop)s") % {"loop": title}
    return Message(
        title=title,
        body=extract_headline(text, MAX_EXCERPT),
        url=f"{settings.SITE_URL}/inbox/{request_id}/",
        topic=request_id,
        priority=priority,
        seconds_left=seconds_left,
        language=language,
    )


def encrypt(payload: bytes, target: Target) -> bytes:
    """The body of the POST: aes128gcm with a fresh key pair for each message."""
    body: bytes = http_ece.encrypt(
        payload,
        private_key=ec.generate_private_key(ec.SECP256R1()),
        dh=decode(target.p256dh),
        auth_secret=decode(target.auth),
        version="aes128gcm",
    )
    return body


def headers(message: Message, target: Target) -> dict[str, str]:
    """The headers that the push service reads."""
    return {
        "Authorization": vapid.authorization(target.endpoint),
        "Content-Type": "application/octet-stream",
        "Content-Encoding": "aes128gcm",
        "TTL": str(max(0, min(int(message.seconds_left), MAX_TTL))),
        "Urgency": URGENCY[message.priority],
        "Topic": message.topic,
    }


def decode(text: str) -> bytes:
    """Decodes base64url, with or without padding. Raises ValueError."""
    bare = text.rstrip("=").encode("ascii")
    if len(bare) % 4 == 1:
        raise ValueError(text)
    return base64.b64decode(bare + b"=" * (-len(bare) % 4), altchars=b"-_", validate=True)
