"""Checks absolute http and https URLs from people and programs, and hides their credentials.

A URL may contain a name and a password for its host: `https://name:password@host/`. Only the
account that sent the URL may read them again.
"""

import re
from urllib.parse import urlsplit

MAX_URL_LENGTH = 2048
_CREDENTIALS = re.compile(r"(?<=//)[^/?#\s]*@")


def is_web_url(text: str) -> bool:
    """Tells whether `text` is an absolute http or https URL without spaces or control characters.

    See docs/contract.md, `create.image_url`.
    """
    if len(text) > MAX_URL_LENGTH or any(c.isspace() or ord(c) < 33 or ord(c) == 127 for c in text):
        return False
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0


def hide_credentials(text: str) -> str:
    """Replaces the name and password of every URL in `text` by asterisks."""
    return _CREDENTIALS.sub("***@", text)
