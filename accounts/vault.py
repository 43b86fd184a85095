"""Secrets at rest: encrypted with the first of ENCRYPTION_KEYS, readable with any of them."""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class Unreadable(Exception):
    """None of ENCRYPTION_KEYS opens this: the key that sealed it is missing."""


def seal(text: str) -> bytes:
    """The ciphertext of `text`."""
    return _fernet().encrypt(text.encode())


def open_sealed(sealed: bytes | memoryview) -> str:
    """What `seal` was given. Raises Unreadable."""
    try:
        return _fernet().decrypt(bytes(sealed)).decode()
    except InvalidToken:
        raise Unreadable("A secret was sealed with a key that ENCRYPTION_KEYS lacks.") from None


def reseal(sealed: bytes | memoryview) -> bytes:
    """The same under the first key. Raises Unreadable."""
    return seal(open_sealed(sealed))


def _fernet() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])
