"""Creates idempotency keys, which are the same for all retries of a call."""

from __future__ import annotations

import hashlib
import uuid


def new_key() -> str:
    """Makes the key of one call."""
    return str(uuid.uuid4())


def derive_key(name: str) -> str:
    """Derives the key of a question from its name, so that every process finds the same one."""
    return "ask-" + hashlib.sha256(name.encode()).hexdigest()[:40]
