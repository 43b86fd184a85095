"""Reads and checks the push subscription that a browser sends."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from django.conf import settings

from reviews.notifications.push.message import decode
from webhooks.networks import read_address

MAX_ENDPOINT_LENGTH = 2048
_BASE64URL = re.compile(r"[A-Za-z0-9_-]+={0,2}\Z")
_PRINTABLE = re.compile(r"[!-~]+\Z")


class InvalidSubscription(Exception):
    """A subscription that cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """A PushSubscription of the Push API."""

    endpoint: str
    host: str
    p256dh: str
    auth: str


def read_subscription(sent: dict[str, Any]) -> Subscription:
    """Reads `{"endpoint": …, "keys": {"p256dh": …, "auth": …}}` and ignores the rest.

    Raises InvalidSubscription.
    """
    keys = sent.get("keys")
    if not isinstance(keys, dict):
        raise InvalidSubscription("keys must be an object")
    endpoint, host = _endpoint(sent.get("endpoint"))
    p256dh = _key(keys, "p256dh", 65)
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode(p256dh))
    except ValueError:
        raise InvalidSubscription("keys.p256dh must be a point of P-256") from None
    return Subscription(endpoint, host, p256dh, _key(keys, "auth", 16))


def _endpoint(value: object) -> tuple[str, str]:
    fault = InvalidSubscription("endpoint must be an https URL")
    if (
        not isinstance(value, str)
        or len(value) > MAX_ENDPOINT_LENGTH
        or not _PRINTABLE.match(value)
    ):
        raise fault
    try:
        parts = urlsplit(value)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise fault from None
    if not host or "@" in parts.netloc or ":" in host or port == 0 or parts.fragment:
        raise fault
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_opened(host)):
        raise fault
    return value, host[:255]


def _is_opened(host: str) -> bool:
    """Tells whether the host is an IP address that the operator opened, such as loopback."""
    address = read_address(host)
    return address is not None and any(
        address in network
        for network in settings.PUSH_OPEN_NETWORKS
        if network.version == address.version
    )


def _key(keys: dict[str, Any], name: str, length: int) -> str:
    value = keys.get(name)
    fault = InvalidSubscription(f"keys.{name} must be {length} bytes in base64url")
    if not isinstance(value, str) or len(value) > 100 or not _BASE64URL.match(value):
        raise fault
    try:
        decoded = decode(value)
    except ValueError:
        raise fault from None
    if len(decoded) != length:
        raise fault
    return value.rstrip("=")
