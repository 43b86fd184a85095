"""API keys: how they are spelled. Pure.

`rl_live_` + 30 base62 characters + 6 of checksum. The checksum tells a mistyped key from an
unknown one without a look at the database, and lets secret scanners be sure.
"""

import hashlib
import secrets
import string
import zlib

PREFIX = "rl_live_"
BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_RANDOM, _CHECKSUM = 30, 6


def new_key() -> str:
    """A fresh key; shown once, kept only as its digest."""
    body = PREFIX + "".join(secrets.choice(BASE62) for _ in range(_RANDOM))
    return body + checksum(body)


def checksum(body: str) -> str:
    """CRC-32 of the key so far, in base62."""
    number, digits = zlib.crc32(body.encode()), ""
    for _ in range(_CHECKSUM):
        number, digit = divmod(number, 62)
        digits = BASE62[digit] + digits
    return digits


def is_well_formed(key: str) -> bool:
    """Whether `key` could be one of ours."""
    if not key.startswith(PREFIX) or len(key) != len(PREFIX) + _RANDOM + _CHECKSUM:
        return False
    return key.isascii() and checksum(key[:-_CHECKSUM]) == key[-_CHECKSUM:]


def digest(key: str) -> bytes:
    """What is stored of a key: its SHA-256."""
    return hashlib.sha256(key.encode()).digest()
