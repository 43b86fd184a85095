"""Reads the final response of an HTTP exchange.

The standard library takes every interim response but 100 for the final one, stops at 100
headers, and accepts headers that break off.
"""

from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from typing import Any, Protocol

import urllib3

from webhooks.failure_texts import BROKEN_OFF, BYTES_MISSING

MAX_INTERIM = 16  # interim responses before the final one
MAX_LINE = 65_536  # bytes; http.client reads no longer ones
MAX_HEADERS = 1000
MAX_HEAD = 2**20  # bytes


class BrokenOff(Exception):
    """A successful response that ended before its Content-Length, or in the middle of a chunk."""


class Stream(Protocol):
    def readline(self, size: int, /) -> bytes: ...


class FinalResponse(HTTPResponse):
    """Skips interim responses (RFC 9110, 15.2) and takes up to 1,000 headers.

    101 counts as final: we never ask for another protocol.
    """

    def begin(self, **options: Any) -> None:
        if self.headers is not None:  # it was read before
            return
        stream: Any = self.fp
        self.fp = Pieces(read_final_head(stream))
        try:
            super().begin(**options)
        finally:
            self.fp = stream


class Pieces:
    """A head as http.client reads it: it takes 100 lines, so each holds as many as fit into one."""

    def __init__(self, lines: list[bytes]) -> None:
        self._pieces = join_lines(lines)

    def readline(self, size: int, /) -> bytes:
        return next(self._pieces, b"")

    def close(self) -> None: ...


def join_lines(lines: list[bytes]) -> Iterator[bytes]:
    """The status line, the header lines joined up to 64 KiB, and the empty line."""
    status, *headers = lines
    yield status
    piece = b""
    for line in headers[:-1]:
        if len(piece) + len(line) > MAX_LINE:
            yield piece
            piece = b""
        piece += line
    yield from filter(None, (piece, *headers[-1:]))


def read_final_head(stream: Stream) -> list[bytes]:
    """The lines of the first head that is not interim, the empty one included.

    Raises HTTPException.
    """
    for _ in range(MAX_INTERIM + 1):
        lines = read_head(stream)
        if not is_interim(lines[0]):
            return lines
    raise HTTPException(f"More than {MAX_INTERIM} interim responses.")


def read_head(stream: Stream) -> list[bytes]:
    """A status line and its headers; of what is no HTTP the first line alone.

    Raises HTTPException where it is too long or breaks off.
    """
    lines = [read_line(stream)]
    room = MAX_HEAD
    while lines[0].startswith(b"HTTP/") and lines[-1] not in (b"\r\n", b"\n"):
        line = read_line(stream)
        if not line:
            raise HTTPException("The response broke off in its headers.")
        lines.append(line)
        room -= len(line)
        if len(lines) > MAX_HEADERS + 2 or room < 0:
            raise HTTPException("The response has too many headers.")
    return lines


def read_line(stream: Stream) -> bytes:
    """Reads a line of the head of a response. Raises HTTPException.

    The parser behind ends a line at a CR as well, so a CR alone would make many lines of one. It is
    invalid (RFC 9112, 2.2).
    """
    line = stream.readline(MAX_LINE + 1)
    if len(line) > MAX_LINE:
        raise HTTPException("The response has too long a line.")
    if b"\r" in line.removesuffix(b"\n").removesuffix(b"\r"):
        raise HTTPException("The response has a carriage return inside a line.")
    return line


def is_interim(status_line: bytes) -> bool:
    """Tells whether a status line is that of an interim response: 100 to 199, but not 101."""
    words = status_line.split(None, 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/"):
        return False
    status = words[1]
    return len(status) == 3 and status.isdigit() and status[:1] == b"1" and status != b"101"


def read_body(received: urllib3.BaseHTTPResponse, limit: int) -> bytes:
    """The first `limit` bytes of the body, encoded as they came.

    Where the body of a failure breaks off, its status still counts, and '' or what came of it is
    returned. Raises BrokenOff for a 2xx: its sender may have failed after it began to respond.
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
