"""The keys that sign receipts: one signs, earlier ones are still published (docs/security.md).

The private key is encrypted like webhook secrets.
"""

import base64
import hashlib
import json
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from jwt import PyJWK
from jwt.algorithms import OKPAlgorithm

from accounts import vault
from reviews.models import Receipt, SigningKey

ALGORITHM = "EdDSA"


def read_signing_key() -> tuple[str, PyJWK]:
    """Returns the id and the private key that sign now; creates the first one if there is none.

    Raises vault.Unreadable.
    """
    row = _read_current()
    return row.pk, PyJWK(json.loads(vault.open_sealed(row.sealed)))


def list_public_keys() -> list[dict[str, Any]]:
    """Returns the public keys as JWKs: the current one, then those with unexpired receipts.

    Keys that are compromised are not among them.
    """
    unexpired = Receipt.objects.filter(key=OuterRef("pk"), expires_at__gt=Now())
    retired = SigningKey.objects.filter(
        Q(retired_at__isnull=False), Exists(unexpired), compromised_at=None
    )
    return [_read_current().public, *(row.public for row in retired.order_by("-retired_at"))]


@transaction.atomic
def rotate(*, is_compromised: bool = False) -> str:
    """Replaces the key that signs, and removes the old private key; returns the new id.

    Two rotations at once are one. A compromised key verifies no receipt any more.
    """
    current = SigningKey.objects.filter(retired_at=None)
    compromised = {"compromised_at": Now()} if is_compromised else {}
    current.update(retired_at=Now(), sealed=None, **compromised)
    return str(_read_current().pk)


@transaction.atomic
def withdraw(kid: str) -> str:
    """Stops publishing a compromised key, and returns the id of the key that signs.

    The key that signs is replaced. Raises SigningKey.DoesNotExist.
    """
    key = SigningKey.objects.select_for_update().get(pk=kid)
    if key.retired_at is None:
        return rotate(is_compromised=True)
    SigningKey.objects.filter(pk=kid).update(compromised_at=Now())
    return str(_read_current().pk)


def _read_current() -> Any:
    rows = SigningKey.objects.filter(retired_at=None)
    row = rows.first()
    while row is None:
        _create()
        row = rows.first()
    return row


def _create() -> None:
    private = OKPAlgorithm.to_jwk(Ed25519PrivateKey.generate(), as_dict=True)
    public = {name: private[name] for name in ("crv", "kty", "x")}
    kid = compute_thumbprint(public)
    row = SigningKey(
        id=kid,
        public={**public, "kid": kid, "use": "sig", "alg": ALGORITHM},
        sealed=vault.seal(json.dumps(private)),
    )
    # a key that another process created first stays
    SigningKey.objects.bulk_create([row], ignore_conflicts=True)


def compute_thumbprint(public: dict[str, str]) -> str:
    """Computes the thumbprint of a JWK (RFC 7638); `public` has its required members alone."""
    text = json.dumps(public, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
