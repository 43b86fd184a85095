"""Issues and reads encrypted tokens with the key that a form will create.

The form for a new API key or review token contains the future key, encrypted with ENCRYPTION_KEYS.
The browser cannot read it, and the service does not store it. Sending the form again creates no
second key. A cookie with the same token gives the key to the page that shows it once.
"""

import json

from django.conf import settings
from django.http import HttpResponse

from accounts import key_format, vault

COOKIE_SECONDS = 600  # in which the page that shows the key has to be opened


def keep(response: HttpResponse, token: str, *, path: str) -> None:
    """Sets the cookie with which the page below `path` shows the key once."""
    response.set_cookie(
        settings.NEW_KEY_COOKIE,
        token,
        max_age=COOKIE_SECONDS,
        path=path,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def forget(response: HttpResponse, *, path: str) -> None:
    """Deletes the cookie with the key, which a browser could otherwise show again."""
    response.delete_cookie(settings.NEW_KEY_COOKIE, path=path)


def issue(purpose: str, user_id: str, prefix: str = key_format.PREFIX) -> str:
    """Returns a token with a new key for one person and purpose."""
    return vault.seal(json.dumps([purpose, user_id, key_format.new_key(prefix)])).decode()


def read(token: str, purpose: str, user_id: str) -> str | None:
    """Returns the key in a token of the same person and purpose, or None for any other token."""
    try:
        payload = json.loads(vault.open_sealed(token.encode()))
    except (vault.Unreadable, ValueError):
        return None
    if not isinstance(payload, list) or payload[:2] != [purpose, user_id]:
        return None
    return str(payload[2])
