"""The key that a form carries before it exists.

A form for a new key holds the key to be, encrypted with ENCRYPTION_KEYS: the browser cannot read
it, and the service need not keep it. However often the form is sent, it makes that one key; and
the page that shows it, once, finds it in a cookie that holds the same.
"""

import json

from accounts import key_format, vault


def issue(purpose: str, user_id: str) -> str:
    """A fresh key for one person and purpose, sealed."""
    return vault.seal(json.dumps([purpose, user_id, key_format.new_key()])).decode()


def read(token: str, purpose: str, user_id: str) -> str | None:
    """The key in a token of the same person and purpose; None for anything else."""
    try:
        found = json.loads(vault.open_sealed(token.encode()))
    except (vault.Unreadable, ValueError):
        return None
    if not isinstance(found, list) or found[:2] != [purpose, user_id]:
        return None
    return str(found[2])
