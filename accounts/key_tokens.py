"""Issues and reads encrypted tokens with the API key that a form will create.

The form for a new key contains the future key, encrypted with ENCRYPTION_KEYS. The browser cannot
read it, and the service does not store it. Sending the form again creates no second key. A cookie
with the same token gives the key to the page that shows it once.
"""

import json

from accounts import key_format, vault


def issue(purpose: str, user_id: str) -> str:
    """Returns a token with a new key for one person and purpose."""
    return vault.seal(json.dumps([purpose, user_id, key_format.new_key()])).decode()


def read(token: str, purpose: str, user_id: str) -> str | None:
    """Returns the key in a token of the same person and purpose, or None for any other token."""
    try:
        payload = json.loads(vault.open_sealed(token.encode()))
    except (vault.Unreadable, ValueError):
        return None
    if not isinstance(payload, list) or payload[:2] != [purpose, user_id]:
        return None
    return str(payload[2])
