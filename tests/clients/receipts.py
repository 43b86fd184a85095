"""Receipts and forgeries of them, made with a library that neither service nor clients use."""

import base64
import json
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from joserfc import jws
from joserfc.errors import SecurityWarning
from joserfc.jwk import OctKey, OKPKey

from reviews.canonical import compute_digest
from tests.reviews.approvals import ARGUMENTS

ISSUER = "https://review.example"
TYPE = "approval-receipt+jwt"

OKP = {"kty": "OKP", "crv": "Ed25519"}
MALFORMED: list[Any] = [None, 1, ["x"], {"keys": None}, OKP, {**OKP, "x": 1}, {**OKP, "x": "AA"}]
"""What somebody pinned instead of keys."""


@contextmanager
def without_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)  # RFC 9864 renames EdDSA
        yield


def new_key() -> OKPKey:
    return OKPKey.generate_key("Ed25519", {"use": "sig"}, auto_kid=True)


def public(key: OKPKey) -> dict[str, Any]:
    return dict(key.as_dict(private=False))


def claims(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    return {
        "iss": ISSUER, "sub": "a" * 24, "jti": "a" * 24, "iat": now, "exp": now + 600,
        "loop_id": "b" * 24, "name": "refund", "action": "approve",
        "arguments_sha256": compute_digest(ARGUMENTS), "question_sha256": "0" * 64,
        "answered_by": [{"id": "c" * 24, "name": "Grace"}],
        "answered_at": "2026-05-04T10:42:05.310Z", "policy": {"rule": "first", "answers": 1},
        **changes,
    }  # fmt: skip


def sign(key: OKPKey, stated: dict[str, Any], **header: Any) -> str:
    head = {"alg": "EdDSA", "typ": TYPE, "kid": key.kid, **header}
    head = {name: value for name, value in head.items() if value is not None}
    with without_warning():
        registry = jws.JWSRegistry(algorithms=["EdDSA"], strict_check_header=False)
        return jws.serialize_compact(head, json.dumps(stated).encode(), key, registry=registry)


def forgeries(key: OKPKey) -> dict[str, str]:
    """Tokens that no verifier with this pinned key may accept."""
    other = new_key()
    stated, good = claims(), sign(key, claims())
    head, body, signature = good.split(".")
    with without_warning():
        octets = OctKey.import_key(base64.urlsafe_b64decode(public(key)["x"] + "="))
        symmetric = jws.serialize_compact(
            {"alg": "HS256", "typ": TYPE, "kid": key.kid}, json.dumps(stated).encode(), octets
        )
    none = encode({"alg": "none", "typ": TYPE, "kid": key.kid})
    changed = encode({**stated, "name": "delete_everything"})
    without_expiry = {name: value for name, value in stated.items() if name != "exp"}
    now = int(time.time())
    return {
        "alg none": f"{none}.{body}.",
        "alg none with a signature": f"{none}.{body}.{signature}",
        "HMAC with the public key": symmetric,
        "another key": sign(other, stated),
        "another key with this id": sign(other, stated, kid=key.kid),
        "a key inside": sign(other, stated, kid=key.kid, jwk=public(other)),
        "a key inside without an id": sign(other, stated, kid=other.kid, jwk=public(other)),
        "a key elsewhere": sign(other, stated, jku="http://127.0.0.1:9/jwks.json"),
        "other claims": f"{head}.{changed}.{signature}",
        "another type": sign(key, stated, typ="JWT"),
        "no type": sign(key, stated, typ=None),
        "another issuer": sign(key, claims(iss="https://evil.example")),
        "no expiry": sign(key, without_expiry),
        "expired": sign(key, claims(iat=now - 900, exp=now - 300)),
        "from the future": sign(key, claims(iat=now + 3600, exp=now + 7200)),
        "other arguments": sign(key, claims(arguments_sha256=compute_digest({}))),
        "two parts": f"{head}.{body}",
        "no token": "receipt",
        "nothing": "",
    }


def encode(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
