"""Builds the WSGI environment of a request (PEP 3333)."""

import io
import sys
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

Environ = dict[str, Any]
Fields = list[tuple[bytes, bytes]]

_NAMES = {b"content-type": "CONTENT_TYPE", b"content-length": "CONTENT_LENGTH"}
_MAX_NAMES = 1000
_SEPARATORS = {"HTTP_COOKIE": "; "}


class BadHead(ValueError):
    """The head of a request is not valid; the text says why."""


def build_base(site: str) -> Environ:
    """Builds what all requests share. Requests without a Host are meant for the host of `site`."""
    parts = urlsplit(site)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return {
        "SCRIPT_NAME": "",
        "SERVER_NAME": parts.hostname or "localhost",
        "SERVER_PORT": str(port),
        "SERVER_SOFTWARE": "front",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        "wsgi.input_terminated": True,
    }


def build_environ(
    base: Environ, remote: str, method: bytes, version: str, target: bytes, fields: Fields
) -> Environ:
    """Builds the environment of a request without its body. Raises BadHead.

    All text is Latin-1, as PEP 3333 demands: every byte arrives, and Django decodes them.
    """
    environ = {**base, "REMOTE_ADDR": remote, "REQUEST_METHOD": method.decode("ascii")}
    environ["SERVER_PROTOCOL"] = f"HTTP/{version}"
    for name, value in fields:
        key = _NAMES.get(name) or _name_key(name)
        if key not in environ:
            environ[key] = value.decode("latin-1")
        elif key == "HTTP_HOST":
            raise BadHead("The request has more than one Host header.")
        elif key:
            environ[key] += _SEPARATORS.get(key, ",") + value.decode("latin-1")
    environ.pop("", None)
    _set_target(environ, target)
    if version == "1.0":
        if "HTTP_TRANSFER_ENCODING" in environ:
            raise BadHead("HTTP/1.0 has no Transfer-Encoding.")
    elif "HTTP_HOST" not in environ:
        raise BadHead("The request has no Host header.")
    return environ


def set_body(environ: Environ, body: bytes) -> None:
    """Adds the complete body."""
    environ["wsgi.input"] = io.BytesIO(body)
    if body or "CONTENT_LENGTH" in environ:
        environ["CONTENT_LENGTH"] = str(len(body))


def _name_key(name: bytes) -> str:
    """Returns the key of a header, '' for one that is dropped.

    A name with an underscore could pass for another header: X_Forwarded_For.
    """
    lower = name.lower()
    key = _NAMES.get(lower)
    if key is None:
        key = "" if b"_" in name else "HTTP_" + name.decode("latin-1").upper().replace("-", "_")
    if len(_NAMES) < _MAX_NAMES:
        _NAMES[name] = key
    return key


def _set_target(environ: Environ, target: bytes) -> None:
    path, _, query = target.partition(b"?")
    if not path.startswith(b"/") and path != b"*":
        scheme, found, rest = path.partition(b"://")
        if not found or scheme.lower() not in (b"http", b"https"):
            raise BadHead("The request has no path.")
        authority, slash, path = rest.partition(b"/")
        environ["HTTP_HOST"] = authority.decode("latin-1")
        path = slash + path or b"/"
    raw = unquote_to_bytes(path) if b"%" in path else path
    environ["PATH_INFO"] = raw.decode("latin-1")
    environ["QUERY_STRING"] = query.decode("latin-1")
