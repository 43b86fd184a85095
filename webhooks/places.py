"""Seals the places of event streams, which clients keep and send back.

A place has a number that counts the transactions of the whole service. So it is encrypted for the
account, with a key that derives from ENCRYPTION_KEYS.
"""

import base64
import os
import re
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

NONCE = 12  # bytes
LENGTH = 41  # bytes of every place, so that its length says nothing; no marker is longer
_SEALED = re.compile(r"[\w-]{92}\Z", re.ASCII)  # 69 bytes in base64


def seal(account_id: str, marker: str) -> str:
    """Encrypts the marker of a position."""
    nonce = os.urandom(NONCE)
    cipher = _derive(settings.ENCRYPTION_KEYS[0], account_id)
    sealed = cipher.encrypt(nonce, marker.ljust(LENGTH).encode(), None)
    return base64.urlsafe_b64encode(nonce + sealed).decode()


def open_sealed(account_id: str, place: str) -> str | None:
    """Decrypts what `seal` returned; None for anything else, and for another account's place."""
    if not _SEALED.match(place):
        return None
    sealed = base64.urlsafe_b64decode(place)
    for key in settings.ENCRYPTION_KEYS:
        try:
            marker = _derive(key, account_id).decrypt(sealed[:NONCE], sealed[NONCE:], None)
        except InvalidTag:
            continue
        return marker.decode().rstrip()
    return None


@lru_cache(maxsize=1024)
def _derive(key: str, account_id: str) -> AESGCM:
    info = b"review loop place of a stream " + account_id.encode()
    return AESGCM(HKDF(SHA256(), length=32, salt=None, info=info).derive(key.encode()))
