"""What the web server sends: responses of Django, and its own refusals."""

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any

from web.asgi import Request
from web.server.limits import PART

Headers = list[tuple[bytes, bytes]]

JSON: Headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]


@dataclass(slots=True)
class Answer:
    """A response, whole or with its first part; `rest` makes the others."""

    status: int
    headers: Headers
    body: bytes
    rest: Iterator[bytes] | None = None
    close: Callable[[], None] | None = None

    @property
    def may_have_body(self) -> bool:
        return self.status not in (204, 304)

    def has_length(self) -> bool:
        return any(name == b"content-length" for name, _ in self.headers)

    def measure(self, method: str) -> "Answer":
        """Returns a whole response with its length, as the method wants it."""
        body = self.body if self.may_have_body else b""
        if method == "HEAD" and not body:  # its length is what a GET would get, if that is known
            return self
        headers = [each for each in self.headers if each[0] != b"content-length"]
        if self.may_have_body:
            headers.append((b"content-length", b"%d" % len(body)))
        return Answer(self.status, headers, body)


class Refusal(Exception):
    """A request that the server answers itself, with a status and the reason."""

    TITLES = {
        400: "Bad request",
        408: "Request timeout",
        413: "Request body too large",
        500: "Server error",
        503: "Server too busy",
    }

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail

    def build(self, *, as_json: bool) -> Answer:
        """Builds the envelope of the API, or plain text for a browser."""
        title = self.TITLES[self.status]
        if as_json:
            text = json.dumps({"error": True, "msg": title, "data": self.detail})
            return Answer(self.status, JSON, text.encode())
        kind = (b"content-type", b"text/plain; charset=utf-8")
        headers = [kind, *JSON[1:], (b"x-content-type-options", b"nosniff")]
        return Answer(self.status, headers, f"{title}. {self.detail}\n".encode())


def build_answer(request: Request, response: Any) -> Answer:
    """Reads a response of Django, on the thread that made it; closes it if that is all."""
    answer = Answer(response.status_code, [], b"")
    try:
        answer.headers = list(_read_headers(response))
        if not response.streaming:
            answer.body = response.content
        elif request.method != "HEAD" and answer.may_have_body:
            rest = iter(response)
            if request.META["SERVER_PROTOCOL"] == "HTTP/1.0" and not answer.has_length():
                rest = _spool(rest, answer)
            answer.body, is_whole = take(rest)
            if not is_whole:
                answer.rest, answer.close = rest, response.close
    finally:
        if answer.rest is None:
            response.close()
    return answer


def take(parts: Iterator[bytes]) -> tuple[bytes, bool]:
    """Takes about PART bytes; returns them, and whether that was all."""
    taken, size = [], 0
    for part in parts:
        taken.append(part)
        size += len(part)
        if size >= PART:
            return b"".join(taken), False
    return b"".join(taken), True


def _read_headers(response: Any) -> Iterator[tuple[bytes, bytes]]:
    for name, text in response.items():
        yield name.lower().encode("latin-1"), text.encode("latin-1")
    for cookie in response.cookies.values():
        yield b"set-cookie", cookie.output(header="").strip().encode("latin-1")


def _spool(parts: Iterator[bytes], answer: Answer) -> Iterator[bytes]:
    """Writes all parts to a file, so that their length is known: uvicorn would send chunks, which
    clients of HTTP/1.0 do not know, and cannot mark an end by closing."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 (closed by who reads it)
    file.writelines(parts)
    answer.headers.append((b"content-length", b"%d" % file.tell()))
    file.seek(0)
    return _read_parts(file)


def _read_parts(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while part := file.read(PART):
            yield part
