"""Makes and checks invite codes. Pure.

A code has twelve characters from an alphabet of 31 without look-alikes (no I, L, O, 0, 1): 59 bits
from a cryptographic source.
"""

import secrets

from web.pasted import find_join_code

ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
LENGTH = 12


def new_code() -> str:
    """Makes a random code."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def normalize_code(typed: str) -> str:
    """Converts a typed code or a pasted join link to the stored form of the code."""
    return find_join_code(typed).upper()


def is_well_formed(code: str) -> bool:
    """Tells whether a normalized code has the right length and alphabet."""
    return len(code) == LENGTH and all(character in ALPHABET for character in code)
