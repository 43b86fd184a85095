"""Distinguishes programs from browsers on paths that both call."""

import re

_API = re.compile(r"/(v1|mcp)(/|\Z)")
_JSON = re.compile(r"\s*application/(json|problem\+json)\s*(;|\Z)", re.IGNORECASE)
_PAGE = re.compile(r"\s*(text/html|application/xhtml\+xml)\s*(;|\Z)", re.IGNORECASE)


def asks_for_json(path: str, accept: str, content_type: str) -> bool:
    """Tells whether the client gets errors in the envelope.

    True below /v1, for /mcp, and for clients that send JSON or accept JSON but no HTML.
    """
    if _API.match(path) or _JSON.match(content_type):
        return True
    kinds = accept.split(",")
    return any(map(_JSON.match, kinds)) and not any(map(_PAGE.match, kinds))
