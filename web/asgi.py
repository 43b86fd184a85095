"""Django's synchronous handler, for requests that an ASGI server has received completely."""

import codecs
import io
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_to_bytes

from django.core import signals
from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.base import BaseHandler
from django.http import QueryDict, parse_cookie
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix
from django.utils.encoding import repercent_broken_unicode
from django.utils.functional import cached_property
from django.utils.http import parse_header_parameters

Meta = dict[str, Any]
_ALL_BYTES = bytes(range(256))
_ESCAPES = ("unicode-escape", "raw-unicode-escape")  # of Python's source, and no charsets


class Request(ASGIRequest):
    """A request. A Content-Type or charset that cannot be read counts as none.

    Django reads that header before any middleware runs: an error there would be a bare 500.
    """

    def __init__(self, meta: Meta, body: bytes) -> None:
        self._post_parse_error = False
        self._read_started = False
        self.resolver_match = None
        self.script_name = ""
        self.path = self.path_info = meta["PATH_INFO"]
        self.method = meta["REQUEST_METHOD"]
        self.META = meta
        self._set_content_type_params(meta)
        self._stream = io.BytesIO(body)

    def _get_scheme(self) -> str:
        scheme: str = self.META["wsgi.url_scheme"]
        return scheme

    @cached_property
    def GET(self) -> QueryDict:  # type: ignore[override]  # noqa: N802
        return QueryDict(self.META["QUERY_STRING"], encoding=self.encoding)

    @cached_property
    def COOKIES(self) -> dict[str, str]:  # type: ignore[override]  # noqa: N802
        raw = self.META.get("HTTP_COOKIE", "")
        return parse_cookie(raw.encode("latin-1").decode(errors="replace"))

    def _set_content_type_params(self, meta: Mapping[str, Any]) -> None:
        try:
            kind, params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))
        except (ValueError, TypeError):  # of parameters as in RFC 2231: charset*=bogus''x
            kind, params = "", {}
        self.content_type, self.content_params = kind, params
        charset = params.get("charset")
        if charset and is_charset(charset):
            self.encoding = charset


class Handler(BaseHandler):
    """Answers one request, on the thread that calls it. The response must be closed there, too."""

    def __init__(self) -> None:
        super().__init__()
        self.load_middleware()

    def __call__(self, request: Request) -> HttpResponseBase:
        set_script_prefix("/")
        signals.request_started.send(sender=self.__class__, environ=request.META)
        response = self.get_response(request)
        response._handler_class = self.__class__  # type: ignore[attr-defined]
        return response


def build_meta(scope: Mapping[str, Any], server: tuple[str, str]) -> Meta:
    """Builds META. All headers are Latin-1, so that every byte arrives.

    `server` is the name and the port for requests without a Host. Header names with an underscore
    are dropped: X_Forwarded_For would pass for X-Forwarded-For.
    """
    path = scope["path"]
    if b"%" in scope["raw_path"]:
        path = repercent_broken_unicode(unquote_to_bytes(scope["raw_path"])).decode()
    client = scope["client"]
    meta: Meta = {
        "REQUEST_METHOD": scope["method"],
        "PATH_INFO": path,
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SCRIPT_NAME": "",
        "SERVER_NAME": server[0],
        "SERVER_PORT": server[1],
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0] if client else "",
        "wsgi.url_scheme": "http",
    }
    meta.update(_join(scope["headers"]))
    return meta


def _join(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in headers:
        key, text = _name_key(name), value.decode("latin-1")
        if key in found:
            found[key] += ("; " if key == "HTTP_COOKIE" else ",") + text
        elif key:
            found[key] = text
    return found


@lru_cache(maxsize=1000)
def _name_key(name: bytes) -> str:
    if b"_" in name:
        return ""
    key = name.decode("latin-1").upper().replace("-", "_")
    return key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"


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
