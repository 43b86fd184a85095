"""The responses of the server itself, to requests that never reach Django."""

import html
import json
import re
from http import HTTPStatus

from web.json_clients import asks_for_json

SENTENCES = {
    400: "Bad request",
    408: "Request timeout",
    413: "Request body too large",
    414: "Request path too long",
    431: "Request headers too large",
    500: "Server error",
    501: "Method not implemented",
    503: "Server too busy",
}
_HEADERS = (
    ("Cache-Control", "no-store"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
)
_PAGE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    "<h1>{title}</h1><p>{detail}</p></html>\n"
)
_FIRST = 2048  # bytes in which the path begins
_LAST = 64 * 1024  # bytes in which the headers are looked for
_MAX_SEEN = 1024 * 1024
_TARGET = re.compile(rb"\S+ (?:https?://[^/\s]*)?(\S*)", re.IGNORECASE)
_ACCEPT = re.compile(rb"\r?\naccept:([^\r\n]*)", re.IGNORECASE)
_CONTENT_TYPE = re.compile(rb"\r?\ncontent-type:([^\r\n]*)", re.IGNORECASE)


class Refusal(Exception):
    """A request that the server answers itself, with a status and the reason."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self._first = self._last = b""
        self._seen = 0
        self._as_json: bool | None = None
        self.is_ready = False

    def address(self, *, as_json: bool) -> None:
        """Says how the client reads errors, where its headers are known."""
        self._as_json, self.is_ready = as_json, True

    def see(self, data: bytes) -> None:
        """Looks at more of the request; where its head is too long, Accept may come late."""
        self._seen += len(data)
        if len(self._first) < _FIRST:
            self._first = (self._first + data)[:_FIRST]
        self._last = (self._last + data)[-_LAST:]
        ended = b"\r\n\r\n" in self._last or b"\n\n" in self._last
        too_long = self.status in (414, 431) and self._seen < _MAX_SEEN
        self.is_ready = ended or not too_long

    def render(self) -> tuple[str, list[tuple[str, str]], bytes]:
        """Returns the status line's end, the headers and the body."""
        as_json = self._look() if self._as_json is None else self._as_json
        return render(self.status, self.detail, as_json=as_json)

    def _look(self) -> bool:
        """Finds in a head that was not parsed whether the client asks for JSON."""
        target = _TARGET.match(self._first)
        path = (target[1] if target else b"").partition(b"?")[0].decode("latin-1")
        accept, content_type = (
            b",".join(pattern.findall(self._last)).decode("latin-1")
            for pattern in (_ACCEPT, _CONTENT_TYPE)
        )
        return asks_for_json(path, accept, content_type)


def render(status: int, detail: str, *, as_json: bool) -> tuple[str, list[tuple[str, str]], bytes]:
    """Renders an error in the envelope of the API, or as a small page."""
    title = SENTENCES[status]
    if as_json:
        text = json.dumps({"error": True, "msg": title, "data": detail})
        kind = "application/json"
    else:
        text = _PAGE.format(title=title, detail=html.escape(detail))
        kind = "text/html; charset=utf-8"
    headers = [("Content-Type", kind), *_HEADERS]
    return f"{status} {HTTPStatus(status).phrase}", headers, text.encode()
