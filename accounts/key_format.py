"""Creates and checks the text of API keys and review tokens. Pure.

A key is `rl_live_` + 30 base62 characters + 6 characters of checksum, a review token the same after
`rl_review_`. The checksum shows a mistyped one without a query, and lets secret scanners recognize
it with certainty.
"""

import hashlib
import secrets
import string
import zlib

PREFIX = "rl_live_"
REVIEW_PREFIX = "rl_review_"
BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_RANDOM, _CHECKSUM = 30, 6


def new_key(prefix: str = PREFIX) -> str:
    """Returns a new key, which is shown once and stored only as its digest."""
    body = prefix + "".join(secrets.choice(BASE62) for _ in range(_RANDOM))
    return body + checksum(body)


def checksum(body: str) -> str:
    """Returns the CRC-32 of the key without its checksum, in base62."""
    number, digits = zlib.crc32(body.encode()), ""
    for _ in range(_CHECKSUM):
        number, digit = divmod(number, 62)
        digits = BASE62[digit] + digits
    return digits


def is_well_formed(key: str, prefix: str = PREFIX) -> bool:
    """Tells whether `key` has our format and a correct checksum."""
    if not key.startswith(prefix) or len(key) != len(prefix) + _RANDOM + _CHECKSUM:
        return False
    return key.isascii() and checksum(key[:-_CHECKSUM]) == key[-_CHECKSUM:]


def digest(key: str) -> bytes:
    """Returns the SHA-256 of a key, the only form in which it is stored."""
    return hashlib.sha256(key.encode()).digest()
