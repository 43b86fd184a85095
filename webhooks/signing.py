"""Signatures of deliveries (docs/webhooks.md). Pure.

Two forms stand side by side: `X-Service-Signature-256`, and the three headers of Standard
Webhooks, which carry one signature for each secret that is valid during a rotation.
"""

import base64
import hashlib
import hmac
from collections.abc import Sequence


def headers(
    *,
    message_id: str,
    timestamp: int,
    body: bytes,
    plain_key: bytes,
    standard_keys: Sequence[bytes],
) -> dict[str, str]:
    """The signature headers of one attempt; `timestamp` is in Unix seconds."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return {
        "X-Service-Signature-256": "sha256=" + _mac(plain_key, body).hex(),
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(
            "v1," + base64.b64encode(_mac(key, signed)).decode() for key in standard_keys
        ),
    }


def _mac(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()
