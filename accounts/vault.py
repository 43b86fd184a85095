"""Encrypts stored secrets with the first of ENCRYPTION_KEYS and decrypts them with any."""

import hashlib
from contextlib import suppress

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class Unreadable(Exception):
    """None of ENCRYPTION_KEYS decrypts the secret, because its key is missing."""


def seal(text: str) -> bytes:
    """Encrypts `text`."""
    return _fernet().encrypt(text.encode())


def open_sealed(sealed: bytes | memoryview) -> str:
    """Decrypts what `seal` returned. Raises Unreadable."""
    try:
        return _fernet().decrypt(bytes(sealed)).decode()
    except InvalidToken:
        raise Unreadable("A secret was sealed with a key that ENCRYPTION_KEYS lacks.") from None


def reseal(sealed: bytes | memoryview) -> bytes:
    """Encrypts a secret again with the first key. Raises Unreadable."""
    return seal(open_sealed(sealed))


def is_current(sealed: bytes) -> bool:
    """Tells whether the first key decrypts the secret."""
    try:
        Fernet(settings.ENCRYPTION_KEYS[0]).decrypt(sealed)
    except InvalidToken:
        return False
    return True


def get_fingerprint(key: str) -> str:
    """Returns a name of a key that does not reveal the key."""
    return hashlib.sha256(b"review loop key " + key.encode()).hexdigest()[:16]


def find_key(sealed: bytes) -> str | None:
    """Returns the one of ENCRYPTION_KEYS that decrypts the secret."""
    for key in settings.ENCRYPTION_KEYS:
        with suppress(InvalidToken):
            Fernet(key).decrypt(sealed)
            return str(key)
    return None


def _fernet() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])
