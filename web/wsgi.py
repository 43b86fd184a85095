"""The WSGI handler of Django, with requests that no Content-Type breaks.

Django reads that header before any middleware runs: an error there would be a bare 500.
"""

import codecs
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.utils.http import parse_header_parameters

_ALL_BYTES = bytes(range(256))
_ESCAPES = ("unicode-escape", "raw-unicode-escape")  # of Python's source, and no charsets


class Request(WSGIRequest):
    """A request. A Content-Type or charset that cannot be read counts as none."""

    def _set_content_type_params(self, meta: Mapping[str, Any]) -> None:
        try:
            kind, params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))
        except (ValueError, TypeError):  # of parameters as in RFC 2231: charset*=bogus''x
            kind, params = "", {}
        self.content_type, self.content_params = kind, params
        charset = params.get("charset")
        if charset and is_charset(charset):
            self.encoding = charset


class Handler(WSGIHandler):
    """Django's, for these requests."""

    request_class = Request


@lru_cache(maxsize=64)
def is_charset(name: str) -> bool:
    """Tells whether texts can be read in this charset, whatever their bytes."""
    try:
        if codecs.lookup(name).name in _ESCAPES:
            return False
        _ALL_BYTES.decode(name, "replace")
    except (LookupError, ValueError):  # hex is no charset of texts, and idna refuses some
        return False
    return True
