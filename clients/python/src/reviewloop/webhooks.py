"""Verifies that an event comes from the service, and returns it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from typing import Union, cast

from reviewloop.errors import InvalidSignature
from reviewloop.types import Event

TOLERANCE = 300.0  # seconds
Secrets = Union[str, Sequence[str]]
"""The account's webhook secret; during a rotation a receiver may know both."""
RawBody = Union[bytes, bytearray, memoryview, str]
"""The raw body of the request; text is encoded as UTF-8."""


def verify(
    body: RawBody,
    headers: Mapping[str, str],
    secret: Secrets,
    *,
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> Event:
    """Returns a recent event with a valid signature of Standard Webhooks.

    `body` are the raw bytes, `headers` those of the request in any case. Raises InvalidSignature,
    and TypeError for a body that was parsed already.
    """
    raw = _to_bytes(body)
    lower = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp = lower.get("webhook-id", ""), lower.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise InvalidSignature("webhook-timestamp is missing or no number")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance:
        raise InvalidSignature(f"webhook-timestamp is more than {tolerance:.0f} s away")
    signed = f"{message_id}.{timestamp}.".encode() + raw
    expected = [
        b"v1," + base64.b64encode(hmac.digest(_decode(one), signed, hashlib.sha256))
        for one in _list(secret)
    ]
    return _read(raw, lower.get("webhook-signature", "").split(" "), expected)


def verify_body(body: RawBody, headers: Mapping[str, str], secret: Secrets) -> Event:
    """Returns an event with a valid X-Service-Signature-256.

    It signs the body alone, so it does not protect against replays: prefer `verify`.
    Raises InvalidSignature, and TypeError for a body that was parsed already.
    """
    raw = _to_bytes(body)
    lower = {name.lower(): value for name, value in headers.items()}
    expected = [
        b"sha256=" + hmac.digest(one.encode(), raw, hashlib.sha256).hex().encode()
        for one in _list(secret)
    ]
    return _read(raw, [lower.get("x-service-signature-256", "")], expected)


def _to_bytes(body: RawBody) -> bytes:
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    raise TypeError(
        "body must be the raw bytes of the request, not a parsed object: read it before json.loads"
    )


def _read(body: bytes, sent: Sequence[str], expected: Sequence[bytes]) -> Event:
    # all pairs, in constant time
    matches = [
        hmac.compare_digest(one.encode("utf-8", "replace"), other)
        for one in sent
        for other in expected
    ]
    if not any(matches):
        raise InvalidSignature("No signature of this event is right")
    return cast("Event", json.loads(body))


def _list(secret: Secrets) -> list[str]:
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if not secrets or not all(secrets):
        raise ValueError("a webhook secret is empty")
    return secrets


def _decode(secret: str) -> bytes:
    """Returns the key of a secret: base64 of an issued one, the bytes of one that you set."""
    if not secret.startswith("whsec_"):
        return secret.encode()
    try:
        key = base64.b64decode(secret[len("whsec_") :], validate=True)
    except binascii.Error:
        raise ValueError("the webhook secret begins with whsec_ but is not base64") from None
    if not key:
        raise ValueError("the webhook secret has nothing after whsec_")
    return key
