"""Reads requests from the bytes of a connection. llhttp (of Node.js) parses them."""

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from httptools import (
    HttpParserCallbackError,
    HttpParserError,
    HttpParserInvalidMethodError,
    HttpParserUpgrade,
    HttpRequestParser,
)

from front.environ import BadHead, Environ, Fields, build_environ, set_body
from front.limits import Limits, Memory
from front.refusals import Refusal
from web.json_clients import asks_for_json

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_BEGINNING = 4096
_DIGITS = 20  # of a Content-Length
_CHUNK = 8  # bytes on the wire for one of the body, in the smallest chunks
_METHOD = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}(?= )")
_KNOWN_METHOD = b"TRACE"


class Message:
    """A complete request: its environment, and what its response must heed."""

    __slots__ = (
        "environ", "hold", "is_cut", "is_paused", "keep_alive", "parts", "size", "stream",
        "version",
    )  # fmt: skip

    def __init__(self, environ: Environ, version: str, size: int) -> None:
        self.environ = environ
        self.version = version
        self.size = size  # of the body
        self.keep_alive = True
        self.is_cut = False  # the client may still send the rest of the body
        self.parts: Any = None  # what is left of a response that is sent in parts
        self.is_paused = False  # the next part is made once the client has taken what was sent
        self.hold: Any = None  # while it waits to be answered later
        self.stream: Any = None  # the body of a stream that has begun


@dataclass(frozen=True)
class Common:
    """What the readers of all connections share."""

    base: Environ
    limits: Limits
    memory: Memory
    now: Callable[[], float]


class CutShort(Exception):
    """The body of an API call is too long. The API reports it after its other checks."""


class Reader:
    """Reads one request after the other; `complete` has those that nobody has taken yet."""

    __slots__ = (
        "_base", "_begun", "_body", "_environ", "_fields", "_is_behind", "_limits", "_memory",
        "_method", "_now",
        "_parser", "_raw", "_remote", "_say", "_seen", "_size", "_started", "_target", "_version",
        "_weight", "complete", "deadline",
    )  # fmt: skip

    def __init__(self, common: Common, remote: str, say: Callable[[bytes], None]) -> None:
        self._base, self._remote = common.base, remote
        self._limits, self._memory, self._now = common.limits, common.memory, common.now
        self._say = say  # sends an interim response
        self.complete: deque[Message] = deque()
        self._parser = HttpRequestParser(self)
        self._method = b""  # one that the parser does not know
        self._is_behind = False  # whether `_seen` begins with the end of another request
        self.deadline = self._now() + self._limits.first
        self._started = False  # whether a part of the next request has arrived
        self._seen = b""  # its head
        self._environ: Environ | None = None  # while a body arrives
        self._size = 0
        self._body: list[bytes] = []

    @property
    def is_idle(self) -> bool:
        """Whether nothing of the next request has arrived."""
        return not self._started

    def feed(self, data: bytes) -> None:
        """Reads more bytes. Raises Refusal; nothing can be read after that."""
        if self._environ is None:
            self._is_behind &= bool(self._seen)
            self._seen = self._seen + data if self._seen else data
        else:
            self._raw += len(data)
        problem: HttpParserError | None = None
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:  # no protocol to upgrade to: it is an ordinary request
            self.complete[-1].keep_alive = False
        except HttpParserError as error:
            problem = error
        # explained out here, where no exception becomes the context of the next one
        if problem is not None and not self._explain(problem):
            return
        if self._environ is not None:
            if self._raw > _CHUNK * self._size + self._limits.head:  # endless trailers
                raise self._refuse_head()
            return
        if self._started and not self._seen:  # it began behind another request
            self._seen, self._is_behind = data[-_BEGINNING:], True
        if len(self._seen) > self._limits.head:
            raise self._refuse_head()

    def _explain(self, error: HttpParserError) -> bool:
        """Turns an error of the parser into a Refusal; False where the request is cut short."""
        cause = error.__context__ if isinstance(error, HttpParserCallbackError) else None
        if isinstance(cause, CutShort):
            self._finish(keep_alive=False)
            self.complete[-1].is_cut = True
            return False
        if self.complete and not self.complete[-1].keep_alive:
            return False  # what follows the last request of a connection
        if isinstance(cause, Refusal):
            raise cause
        if isinstance(cause, BadHead):
            raise self._refusal(400, str(cause))
        if cause is not None:
            raise cause
        if isinstance(error, HttpParserInvalidMethodError):
            self._read_method()
            return False
        raise self._refusal(400, "The request is not valid HTTP/1.1.")

    def _read_method(self) -> None:
        """Reads a request whose method the parser does not know: Django says 404, 405 or 401."""
        match = _METHOD.match(self._seen)
        if match is None or self._method or self._is_behind:
            raise self._refusal(501, "The method is unknown.")
        self._method, data = match[0], _KNOWN_METHOD + self._seen[match.end() :]
        self._parser, self._seen = HttpRequestParser(self), b""
        self.feed(data)

    def _refusal(self, status: int, detail: str) -> Refusal:
        refusal = Refusal(status, detail)
        environ = self._environ
        if environ is None:
            refusal.see(self._seen)
        else:
            accept, content_type = environ.get("HTTP_ACCEPT", ""), environ.get("CONTENT_TYPE", "")
            refusal.address(as_json=asks_for_json(environ["PATH_INFO"], accept, content_type))
        return refusal

    def _refuse_head(self) -> Refusal:
        limits = self._limits
        detail = f"There may be {limits.headers} headers with {limits.head} bytes."
        return self._refusal(431, detail)

    def time_out(self) -> Refusal:
        """Returns the response to a request that arrived too slowly."""
        if self._environ is None:
            return self._refusal(408, "The headers took too long to arrive.")
        return self._refusal(408, "The body took too long to arrive.")

    # What the parser calls

    def on_message_begin(self) -> None:
        self._started = True
        self._target = b""
        self._fields: Fields = []
        self._weight = 0  # bytes of the headers
        self.deadline = self._now() + self._limits.head_seconds

    def on_url(self, url: bytes) -> None:
        self._target += url
        if len(self._target) > self._limits.target:
            raise self._refusal(414, f"The path may have {self._limits.target} bytes.")

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._environ is not None:  # a trailer
            return
        self._fields.append((name, value))
        self._weight += len(name) + len(value)
        if len(self._fields) > self._limits.headers or self._weight > self._limits.head:
            raise self._refuse_head()

    def on_headers_complete(self) -> None:
        parser = self._parser
        self._version = parser.get_http_version()
        if self._version not in ("1.1", "1.0"):
            raise BadHead("The version of HTTP is not 1.1.")
        method = self._method or parser.get_method()
        environ = build_environ(
            self._base, self._remote, method, self._version, self._target, self._fields
        )
        self._environ, self._raw = environ, 0
        length = environ.get("CONTENT_LENGTH")
        if length is None and "HTTP_TRANSFER_ENCODING" not in environ:
            return
        if length is not None and len(length) > _DIGITS:
            raise BadHead("The Content-Length has too many digits.")
        self._begun = self._now()
        self.deadline = self._limits.body_deadline(self._begun, 0)
        if length is not None and int(length) > self._limits.body:
            self._refuse_large_body()
        if environ.get("HTTP_EXPECT", "").lower() == "100-continue":
            self._say(CONTINUE)

    def on_body(self, data: bytes) -> None:
        if not self._memory.take(self._size, len(data)):
            raise self._refusal(503, "There is no room for the body at the moment.")
        self._size += len(data)
        self._body.append(data)
        self.deadline = self._limits.body_deadline(self._begun, self._size)
        if self._size > self._limits.body:
            self._refuse_large_body()
            raise CutShort

    def on_message_complete(self) -> None:
        if len(self.complete) >= self._limits.pipelined:
            raise self._refusal(503, "Too many requests at once on one connection.")
        self._finish(keep_alive=self._parser.should_keep_alive())

    def _refuse_large_body(self) -> None:
        """Refuses a body that is too large, but for the API, which does it by its own rules."""
        assert self._environ is not None
        if not asks_for_json(self._environ["PATH_INFO"], "", ""):
            raise self._refusal(413, f"The body may have {self._limits.body} bytes.")

    def _finish(self, *, keep_alive: bool) -> None:
        assert self._environ is not None
        message = Message(self._environ, self._version, self._size)
        message.keep_alive = keep_alive
        set_body(message.environ, b"".join(self._body))
        self.complete.append(message)
        self._environ, self._seen, self._size, self._started = None, b"", 0, False
        self._method = b""
        if self._body:
            self._body = []
        self.deadline = self._now() + self._limits.idle

    def forget(self) -> None:
        """Gives back the memory of what will never be complete."""
        self._memory.give_back(self._size)
        self._size = 0
        for message in self.complete:
            self._memory.give_back(message.size)
        self.complete.clear()
