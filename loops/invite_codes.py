"""Invite codes. Pure.

Twelve characters of an alphabet of 31 without look-alikes (no I, L, O, 0, 1): 59 bits from a
cryptographic source.
"""

import secrets

ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
LENGTH = 12


def new_code() -> str:
    """A fresh code."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def normalize_code(typed: str) -> str:
    """A code as it is stored, from what a person typed: any case, spaces and dashes allowed."""
    return "".join(typed.split()).replace("-", "").upper()


def is_well_formed(code: str) -> bool:
    """Whether a normalized code could exist."""
    return len(code) == LENGTH and all(character in ALPHABET for character in code)
