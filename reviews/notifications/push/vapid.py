"""Signs pushes with this service's key pair (VAPID, RFC 8292)."""

import base64
import functools
import time
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.conf import settings
from py_vapid import Vapid02

LIFETIME = 12 * 3600  # seconds; push services refuse more than 24 h


def is_on() -> bool:
    """Tells whether this service has a key, and so can push."""
    return bool(settings.VAPID_PRIVATE_KEY)


@functools.lru_cache(maxsize=4)
def _signer(private_key: str) -> Vapid02:
    signer = Vapid02.from_raw(private_key.encode())
    signer.conf = {"no-strict": True}  # else it refuses the sender of a host without a dot
    return signer


def public_key() -> str:
    """The `applicationServerKey` of subscriptions; '' while push is off."""
    if not is_on():
        return ""
    point = _signer(settings.VAPID_PRIVATE_KEY).public_key.public_bytes(
        Encoding.X962, PublicFormat.UncompressedPoint
    )
    return base64.urlsafe_b64encode(point).rstrip(b"=").decode()


def new_private_key() -> str:
    """Makes a value for VAPID_PRIVATE_KEY."""
    number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
    return base64.urlsafe_b64encode(number.to_bytes(32, "big")).rstrip(b"=").decode()


def authorization(endpoint: str) -> str:
    """The Authorization header for an endpoint; it names its push service as the audience."""
    parts = urlsplit(endpoint)
    claims = {
        "aud": f"{parts.scheme}://{parts.netloc}",
        "exp": int(time.time()) + LIFETIME,
        "sub": settings.VAPID_SUBJECT,
    }
    signed: dict[str, str] = _signer(settings.VAPID_PRIVATE_KEY).sign(claims)
    return signed["Authorization"]
