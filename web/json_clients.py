"""Tells programs from browsers, where a path itself does not say who calls."""

import re

_API = re.compile(r"/(v1|mcp)(/|\Z)")
_JSON = re.compile(r"\s*application/(json|problem\+json)\s*(;|\Z)", re.IGNORECASE)
_PAGE = re.compile(r"\s*(text/html|application/xhtml\+xml)\s*(;|\Z)", re.IGNORECASE)


def asks_for_json(path: str, accept: str, content_type: str) -> bool:
    """Whether an error is answered in the envelope.

    It is for calls below /v1 and to /mcp, and for clients that accept JSON and no pages, or send
    JSON.
    """
    if _API.match(path) or _JSON.match(content_type):
        return True
    kinds = accept.split(",")
    return any(map(_JSON.match, kinds)) and not any(map(_PAGE.match, kinds))
