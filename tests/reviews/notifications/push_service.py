"""A push service on loopback: it answers what it is told to, and its devices read what came.

Decrypts after RFC 8291 and verifies tokens after RFC 8292 by itself: what the service encrypts
with is not what proves it right.
"""

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.webhooks.receivers import Received, Receiver, Reply, receiving

CURVE = ec.SECP256R1()


def encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


class Phone:
    """A browser with a subscription: its keys, and where its pushes go."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.private = ec.generate_private_key(CURVE)
        self.secret = secrets.token_bytes(16)

    @property
    def subscription(self) -> dict[str, Any]:
        """What its script sends to the service."""
        keys = {"p256dh": encode(point(self.private.public_key())), "auth": encode(self.secret)}
        return {"endpoint": self.endpoint, "expirationTime": None, "keys": keys}

    def read(self, received: Received) -> dict[str, Any]:
        """The payload, decrypted."""
        assert received.headers["content-encoding"] == "aes128gcm"
        payload: dict[str, Any] = json.loads(decrypt(received.body, self.private, self.secret))
        return payload


def derive(salt: bytes, secret: bytes, info: bytes, length: int) -> bytes:
    """HKDF with one round (RFC 5869)."""
    fresh = hmac.digest(salt, secret, hashlib.sha256)
    return hmac.digest(fresh, info + b"\x01", hashlib.sha256)[:length]


def decrypt(body: bytes, private: ec.EllipticCurvePrivateKey, auth: bytes) -> bytes:
    """RFC 8291, section 3.4, for one record."""
    salt, length = body[:16], body[20]
    sender, record = body[21 : 21 + length], body[21 + length :]
    shared = private.exchange(
        ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, sender)
    )
    info = b"WebPush: info\x00" + point(private.public_key()) + sender
    material = derive(auth, shared, info, 32)
    key = derive(salt, material, b"Content-Encoding: aes128gcm\x00", 16)
    nonce = derive(salt, material, b"Content-Encoding: nonce\x00", 12)
    padded = AESGCM(key).decrypt(nonce, record, None)
    assert padded.endswith(b"\x02")
    return padded[:-1]


def claims(received: Received, public_key: str) -> dict[str, Any]:
    """The claims of the token, whose signature is the service's own."""
    scheme, _, parameters = received.headers["authorization"].partition(" ")
    found = dict(part.strip().split("=", 1) for part in parameters.split(","))
    assert (scheme, found["k"]) == ("vapid", public_key)
    signed, _, signature = found["t"].rpartition(".")
    raw = decode(signature)
    half = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    key = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, decode(found["k"]))
    try:
        key.verify(half, signed.encode(), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise AssertionError("the token is signed with another key") from None
    head, body = (json.loads(decode(part)) for part in signed.split("."))
    assert head == {"typ": "JWT", "alg": "ES256"}
    found_claims: dict[str, Any] = body
    return found_claims


class PushService:
    """Answers 201, or what `answers` says of a path; `hold` makes all of them wait."""

    def __init__(self) -> None:
        self.answers: dict[str, Reply] = {}
        self.receiver: Receiver

    def respond(self, received: Received) -> Reply:
        return self.answers.get(received.path, Reply(201))

    def hold(self) -> None:
        self.receiver.free.clear()

    def release(self) -> None:
        self.receiver.free.set()

    @property
    def got(self) -> list[Received]:
        return self.receiver.got

    def new_phone(self) -> Phone:
        """A subscription with a path of its own."""
        return Phone(f"http://127.0.0.1:{self.receiver.port}/push/{secrets.token_hex(8)}")

    def answer(self, phone: Phone, status: int, **headers: str) -> None:
        path = "/push/" + phone.endpoint.rpartition("/")[2]
        self.answers[path] = Reply(status, headers)


@contextmanager
def push_service() -> Iterator[PushService]:
    service = PushService()
    with receiving(service.respond) as receiver:
        service.receiver = receiver
        yield service
