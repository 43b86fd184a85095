"""Turns what a WSGI application returns into the bytes of a response."""

import time
from collections.abc import Callable, Iterable, Iterator
from email.utils import formatdate
from typing import Any

from front.reading import Message

PART = 64 * 1024  # bytes; a longer response is sent in parts, as fast as the client takes them
Headers = list[tuple[str, str]]


class Response:
    """The status and the headers of a response; `start` is WSGI's start_response."""

    __slots__ = ("headers", "status")

    def __init__(self, status: str = "", headers: Headers | None = None) -> None:
        self.status = status
        self.headers = headers or []

    def start(self, status: str, headers: Headers, exc_info: Any = None) -> Callable[[bytes], None]:
        """Keeps the status and the headers."""
        self.status, self.headers = status, headers
        return refuse_write


def refuse_write(data: bytes) -> None:
    """Refuses WSGI's old way of writing, which Django does not use."""
    raise NotImplementedError("return the body instead of writing it")


def is_in_memory(result: Iterable[bytes]) -> bool:
    """Whether the body is there already, as in Django's ordinary responses."""
    return isinstance(result, list) or getattr(result, "streaming", True) is False


def take(parts: Iterator[bytes]) -> tuple[bytes, bool]:
    """Takes about PART bytes; returns them, and whether that was all."""
    taken, size = [], 0
    for part in parts:
        taken.append(part)
        size += len(part)
        if size >= PART:
            return b"".join(taken), False
    return b"".join(taken), True


def has_body(message: Message, status: str) -> bool:
    """Whether the response to this request may have a body."""
    is_head = message.environ["REQUEST_METHOD"] == "HEAD"
    return not is_head and status[:3] not in ("204", "304") and status[0] != "1"


def render_whole(message: Message, response: Response, body: bytes) -> bytes:
    """Renders a response whose body is complete."""
    if has_body(message, response.status):
        return render_head(message, response, len(body)) + body
    is_head = message.environ["REQUEST_METHOD"] == "HEAD"
    return render_head(message, response, len(body) if is_head else None, keep_length=True)


def render_head(
    message: Message, response: Response, length: int | None, *, keep_length: bool = False
) -> bytes:
    """Renders the status line and the headers, with `length` as the Content-Length.

    With `keep_length` a length that the application gave stands.
    """
    lines = [f"HTTP/1.1 {response.status}\r\n"]
    for name, value in response.headers:
        if name.lower() == "content-length":
            if not keep_length:
                continue
            length = None
        lines.append(f"{name}: {value}\r\n")
    if length is not None:
        lines.append(f"Content-Length: {length}\r\n")
    if not message.keep_alive:
        lines.append("Connection: close\r\n")
    elif message.version == "1.0":
        lines.append("Connection: keep-alive\r\n")
    lines.append(_date.line())
    return "".join(lines).encode("latin-1")


class _Date:
    """The Date header, rendered once a second."""

    def __init__(self) -> None:
        self._second = 0
        self._line = ""

    def line(self) -> str:
        second = int(time.time())
        if second != self._second:
            self._line = f"Date: {formatdate(second, usegmt=True)}\r\n\r\n"
            self._second = second
        return self._line


_date = _Date()


class Parts:
    """A response that is sent in parts. Raises LengthMismatch where it has another length than it
    says."""

    def __init__(self, message: Message, response: Response, rest: Iterator[bytes]) -> None:
        given = [value for name, value in response.headers if name.lower() == "content-length"]
        self._rest = rest
        self._missing = int(given[0]) if given else None
        self._chunked = not given and message.version == "1.1"
        if self._chunked:
            response.headers = [*response.headers, ("Transfer-Encoding", "chunked")]
        elif not given:
            message.keep_alive = False  # the end of the connection is the end of the body
        self.head = render_head(message, response, None, keep_length=True)

    def render(self, data: bytes, *, is_last: bool) -> bytes:
        """Renders one part of the body."""
        if self._missing is not None:
            self._missing -= len(data)
            if self._missing < 0 or (is_last and self._missing):
                raise LengthMismatch
        if not self._chunked:
            return data
        chunk = b"%x\r\n%b\r\n" % (len(data), data) if data else b""
        return chunk + (b"0\r\n\r\n" if is_last else b"")

    def next(self) -> tuple[bytes, bool]:
        """Returns the next part, and whether it is the last."""
        data, is_last = take(self._rest)
        return self.render(data, is_last=is_last), is_last


class LengthMismatch(Exception):
    """The body is longer or shorter than its Content-Length."""


def close(result: Iterable[bytes]) -> None:
    """Closes what the application returned, as WSGI demands."""
    if hasattr(result, "close"):
        result.close()
