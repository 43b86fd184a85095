"""One push as it goes out: the declarative form, encrypted for its device (RFC 8030, 8291)."""

import base64
from dataclasses import dataclass

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from django.conf import settings

from db.columns import dumps
from reviews.notifications import vapid
from reviews.notifications.wording import excerpt

MAX_TTL = 28 * 24 * 3600  # seconds; what push services keep at most
URGENCY = {"critical": "high", "high": "high", "medium": "normal", "low": "low"}


@dataclass(frozen=True, slots=True)
class Target:
    """A device as a push service and its browser know it."""

    device_id: str
    endpoint: str
    host: str
    p256dh: str
    auth: str


@dataclass(frozen=True, slots=True)
class Message:
    """What is said. `topic` replaces what was said before under it and not yet delivered;
    `seconds_left` is how long it is of use."""

    title: str
    body: str
    url: str
    topic: str
    priority: str
    seconds_left: float

    @property
    def payload(self) -> bytes:
        """The declarative form, which needs no service worker where the browser reads it."""
        notification = {
            "title": self.title,
            "body": self.body,
            "navigate": self.url,
            "tag": self.topic,
            "lang": settings.LANGUAGE_CODE,
            "requireInteraction": self.priority == "critical",
        }
        return dumps({"web_push": 8030, "notification": notification}).encode()


def about_request(
    *, request_id: str, loop_name: str, text: str, priority: str, seconds_left: float
) -> Message:
    """Tells a reviewer that a request waits; no more of it than its first line."""
    mark = "Critical · " if priority == "critical" else ""
    return Message(
        title=mark + excerpt(loop_name, 60),
        body=excerpt(text),
        url=f"{settings.SITE_URL}/inbox/{request_id}/",
        topic=request_id,
        priority=priority,
        seconds_left=seconds_left,
    )


def encrypt(payload: bytes, target: Target) -> bytes:
    """The body: aes128gcm with a key pair of its own for each message."""
    body: bytes = http_ece.encrypt(
        payload,
        private_key=ec.generate_private_key(ec.SECP256R1()),
        dh=decode(target.p256dh),
        auth_secret=decode(target.auth),
        version="aes128gcm",
    )
    return body


def headers(message: Message, target: Target) -> dict[str, str]:
    """What the push service reads."""
    return {
        "Authorization": vapid.authorization(target.endpoint),
        "Content-Type": "application/octet-stream",
        "Content-Encoding": "aes128gcm",
        "TTL": str(max(0, min(int(message.seconds_left), MAX_TTL))),
        "Urgency": URGENCY[message.priority],
        "Topic": message.topic,
    }


def decode(text: str) -> bytes:
    """base64url, with or without padding. Raises ValueError."""
    bare = text.rstrip("=").encode("ascii")
    if len(bare) % 4 == 1:
        raise ValueError(text)
    return base64.b64decode(bare + b"=" * (-len(bare) % 4), altchars=b"-_", validate=True)
