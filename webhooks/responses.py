"""Reads a response with the standard library's parser, and bounds what that one leaves open.

It takes every interim response but 100 for the final one, reads any number of bytes, and accepts
headers that break off.
"""

import http.client
from http.client import HTTPException, HTTPResponse
from typing import Any

import urllib3

from webhooks.failure_texts import BROKEN_OFF, BYTES_MISSING

MAX_INTERIM = 16  # interim responses before the final one
MAX_HEADERS = 1000
MAX_HEAD = 2**20  # bytes, with all interim responses
# The limit of the library is 100, and receivers send more. It can only be set for the whole
# process, whose other HTTP clients (of tracing and error reports) then read as many.
http.client._MAXHEADERS = MAX_HEADERS  # type: ignore[attr-defined]


class BrokenOff(Exception):
    """A successful response that ended before its Content-Length, or in the middle of a chunk."""


class Heads:
    """Hands the parser the lines of a head, and of the interim ones before it, within bounds."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._count = 0
        self._room = MAX_HEAD
        self._is_inside = False

    def readline(self, size: int, /) -> bytes:
        """Reads a line. Raises HTTPException."""
        line: bytes = self._stream.readline(size)
        self._room -= len(line)
        if self._room < 0:
            raise HTTPException("The response has too many headers.")
        # the parser ends a line there, too, so one line could be thousands of headers
        if b"\r" in line.removesuffix(b"\n").removesuffix(b"\r"):
            raise HTTPException("The response has a carriage return inside a line.")
        if self._is_inside and not line:
            raise HTTPException("The response broke off in its headers.")
        if not self._is_inside:
            self._count += 1
            if self._count > MAX_INTERIM + 1:
                raise HTTPException(f"More than {MAX_INTERIM} interim responses.")
        self._is_inside = line not in (b"\r\n", b"\n")
        return line

    def close(self) -> None: ...


class FinalResponse(HTTPResponse):
    """Skips interim responses (RFC 9110, 15.2); 101 counts as final: we never ask for it."""

    def begin(self, **options: Any) -> None:
        if self.headers is not None:  # it was read before
            return
        stream: Any = self.fp
        self.fp = Heads(stream)
        try:
            super().begin(**options)
            while 100 <= self.status < 200 and self.status != 101:
                self.headers = self.msg = None
                super().begin(**options)
        finally:
            self.fp = stream


def read_body(received: urllib3.BaseHTTPResponse, limit: int) -> bytes:
    """The first `limit` bytes of the body, encoded as they came.

    A failure whose body breaks off keeps its status. Raises BrokenOff for a 2xx that breaks off,
    because its sender may have failed after it began to respond.
    """
    is_success = 200 <= received.status < 300
    try:
        content = received.read(limit, decode_content=False)
    except (urllib3.exceptions.HTTPError, OSError, ValueError):
        if is_success:
            raise BrokenOff(BROKEN_OFF) from None
        return b""
    missing = received.length_remaining or 0  # None without a Content-Length
    if is_success and missing and len(content) < limit:
        raise BrokenOff(BYTES_MISSING % {"count": missing})
    return content
