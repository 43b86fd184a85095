"""Checks absolute http and https URLs from people and programs (resolved gap 23)."""

from urllib.parse import urlsplit

MAX_URL_LENGTH = 2048


def is_web_url(text: str) -> bool:
    """Whether `text` is an absolute http or https URL without spaces or control characters."""
    if len(text) > MAX_URL_LENGTH or any(c.isspace() or ord(c) < 33 or ord(c) == 127 for c in text):
        return False
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0
