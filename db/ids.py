"""Public identifiers: 24 hexadecimal characters, time-ordered.

The first 12 characters are the Unix time in milliseconds, the other 12 come from a
cryptographic source, so that ids sort by creation and cannot be guessed from one another.
"""

import re
import secrets
import time

_WELL_FORMED = re.compile(r"[0-9a-f]{24}\Z")


def new_id() -> str:
    """A fresh id."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(6)}"


def normalize_id(text: str) -> str | None:
    """The id in lowercase, or None where `text` is no id."""
    lowered = text.lower()
    return lowered if _WELL_FORMED.match(lowered) else None
