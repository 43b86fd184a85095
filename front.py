"""`python -m front`: the web server (docs/operations.md).

uvicorn keeps the connections and the processes. `Application` reads what is slow on the event loop,
and runs Django's synchronous handler on threads, one complete request at a time.
"""

import argparse
import asyncio
import atexit
import gc
import html
import importlib
import json
import logging
import multiprocessing
import os
import resource
import shutil
import signal
import socket
import sys
import tempfile
import threading
import traceback
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

import uvicorn
from httptools import HttpRequestParser
from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.supervisors import Multiprocess

from local.processes import die_with_parent
from web.json_clients import asks_for_json
from web.waiting import DEFERRED, Deferred, WaitingList

if TYPE_CHECKING:
    from django.http.response import HttpResponseBase

    from web.asgi import Request

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]
Handler = Callable[["Request"], "HttpResponseBase"]

PART = 64 * 1024  # bytes; a longer response is sent in parts, as fast as the client takes them
JSON: Headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
SAFE = ("GET", "HEAD")
GRACE = 25  # seconds for a worker to finish what is under way
_SPARE = 256  # file descriptors for the database, files and the rest
_DIGITS = 20  # of a Content-Length
_CHUNK = 8  # bytes on the wire for one of the body, in the smallest chunks


@dataclass(frozen=True)
class Limits:
    """What a client may send, and how slowly, in bytes and seconds, for one worker process."""

    target: int = 16 * 1024  # path and query
    head: int = 64 * 1024  # request line and headers
    headers: int = 100
    body: int = 1024 * 1024  # 413
    bodies: int = 64 * 1024 * 1024  # of all requests together, without `free` of each: 503
    free: int = 16 * 1024
    unsent: int = 128 * 1024 * 1024  # of all long responses together
    connections: int = 4000
    waiting: int = 3000  # of the connections, those whose response is deferred
    waiting_of_one: int = 1500  # and of these, those of one group
    streams: int = 1000  # and of the connections, those that are streams
    streams_of_one: int = 50
    pipelined: int = 64  # requests that are read before the first one is answered

    first: float = 20.0  # from the connection to the first byte
    head_seconds: float = 10.0
    body_seconds: float = 10.0  # 408, and a second more for each `body_rate` bytes received,
    body_rate: int = 4096
    body_longest: float = 60.0  # but never more than this
    stalled: float = 30.0  # a client that takes nothing of its response
    parting: float = 5.0  # and when the server stops
    linger: float = 2.0  # for a client that still sends when its response is complete
    readiness: float = 10.0  # for /readyz


class Protocol(HttpToolsProtocol):
    """uvicorn's, with bounds for the head in bytes and seconds, and for pipelining."""

    app: "Application"

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.limits = self.app.limits
        self.cycles: list[RequestResponseCycle] = []  # not answered yet
        self.is_reading = False  # a message
        self.in_head = True
        self.received = self.size = self.weight = 0  # bytes: of the message, its body, its headers
        self.data = b""  # that is being read
        self.ahead = 0  # bytes that came while a request was being answered
        self.timer: asyncio.TimerHandle | None = None
        self.since = self.loop.time()  # it has been idle

    @property
    def is_idle(self) -> bool:
        """Whether no complete request of it is being answered."""
        return all(each.response_complete or each.more_body for each in self.cycles)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.timer = self.loop.call_later(self.limits.first, self.end_head)
        self.app.admit(self)

    def connection_lost(self, exc: Exception | None) -> None:
        for cycle in self.cycles:  # uvicorn tells only the last of those that were pipelined
            cycle.disconnected = cycle.disconnected or not cycle.response_complete
            cycle.message_event.set()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self.stop_timer()

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def end_head(self) -> None:
        """Ends a head that takes too long; without a word if nothing of it has come."""
        if self.is_reading:
            self.send_400_response("The headers took too long to arrive.")
        else:
            self.transport.close()

    def shutdown(self) -> None:
        super().shutdown()
        unsent = self.transport.get_write_buffer_size()
        self.loop.call_later(self.limits.parting, self.end_stalled, unsent)

    def end_stalled(self, unsent: int) -> None:
        """Ends a client that has taken nothing since the server began to stop."""
        if self.flow.write_paused and self.transport.get_write_buffer_size() == unsent:
            self.transport.abort()

    def data_received(self, data: bytes) -> None:
        self.received += len(data) if self.is_reading else 0
        self.ahead = self.ahead + len(data) if self.pipeline else 0
        self.feed(data)
        if self.pipeline and self.ahead < self.limits.head:  # only who reads sees a client leave
            self.flow.resume_reading()
        if self.is_reading and self.received > self.limits.head + _CHUNK * self.size:
            self.send_400_response("The headers are too large.")  # or the trailers are
        elif self.timer is None and (self.in_head if self.is_reading else self.is_idle):
            self.timer = self.loop.call_later(self.limits.head_seconds, self.end_head)

    def feed(self, data: bytes) -> None:
        self.data = data
        super().data_received(data)
        self.data = b""

    def send_400_response(self, msg: str) -> None:
        """Refuses what comes; complete requests before it are answered first."""
        open_cycles = [cycle for cycle in self.cycles if not cycle.response_complete]
        complete = [cycle for cycle in open_cycles if not cycle.more_body]
        if complete:
            complete[-1].keep_alive = False
            if self.pipeline and self.pipeline[0][0].more_body:
                self.pipeline.popleft()
        elif open_cycles and open_cycles[0].response_started:
            self.transport.close()
        elif not self.transport.is_closing():
            super().send_400_response(msg)

    def _unsupported_upgrade_warning(self) -> None:
        """Reads the request again as an ordinary one: the parser passes over its body, and over
        what follows."""
        upgrade = sys.exception()
        assert upgrade is not None
        version = self.parser.get_http_version().encode()
        head = [self.scope["method"].encode(), b" ", self.url, b" HTTP/", version, b"\r\n"]
        for name, value in self.headers:
            if name != b"upgrade":
                head += [name, b": ", value, b"\r\n"]
        self.parser = HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn has it
        self.feed(b"".join([*head, b"\r\n", self.data[upgrade.args[0] :]]))

    # What the parser calls

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.is_reading = self.in_head = True
        self.received = self.size = self.weight = 0

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > self.limits.target:
            raise ValueError("The path is too long.")

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.in_head:  # a trailer must not pass for a header
            return
        super().on_header(name, value)
        self.weight += len(name) + len(value)
        if self.weight > self.limits.head or len(self.headers) > self.limits.headers:
            raise ValueError("The headers are too large.")

    def on_headers_complete(self) -> None:
        self.in_head = False
        self.stop_timer()
        if self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT":
            self.scope["method"] = self.parser.get_method().decode()
            return  # _unsupported_upgrade_warning goes on
        if len(self.pipeline) >= self.limits.pipelined:
            raise ValueError("Too many requests at once on one connection.")
        if not self.url.startswith(b"/") and b"://" in self.url:
            host = self.url.split(b"/", 3)[2]
            others = [each for each in self.headers if each[0] != b"host"]
            if len(others) >= len(self.headers) - 1:  # that of an absolute address wins
                self.headers[:] = [*others, (b"host", host)]
        super().on_headers_complete()
        self.cycles = [each for each in self.cycles if not each.response_complete]
        self.cycles.append(self.cycle)

    def on_body(self, body: bytes) -> None:
        self.size += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self.is_reading = False
        self.since = self.loop.time()
        if not self.parser.should_upgrade():
            super().on_message_complete()


class Gone(Exception):
    """The client has left, or takes nothing: there is nobody to answer."""


class Refusal(Exception):
    """A request that the server answers itself, with a status and the reason."""

    TITLES = {
        400: "Bad request",
        408: "Request timeout",
        413: "Request body too large",
        500: "Server error",
        503: "Server too busy",
    }
    HEADERS: Headers = [
        (b"cache-control", b"no-store"),
        (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
    ]
    PAGE = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        "<h1>{title}</h1><p>{detail}</p></html>\n"
    )

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail

    def build(self, *, as_json: bool) -> "Answer":
        """Builds the envelope of the API, or a small page."""
        title = self.TITLES[self.status]
        if as_json:
            text = json.dumps({"error": True, "msg": title, "data": self.detail})
        else:
            text = self.PAGE.format(title=title, detail=html.escape(self.detail))
        kind = b"application/json" if as_json else b"text/html; charset=utf-8"
        return Answer(self.status, [(b"content-type", kind), *self.HEADERS], text.encode())


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


def take(parts: Iterator[bytes]) -> tuple[bytes, bool]:
    """Takes about PART bytes; returns them, and whether that was all."""
    taken, size = [], 0
    for part in parts:
        taken.append(part)
        size += len(part)
        if size >= PART:
            return b"".join(taken), False
    return b"".join(taken), True


def build_answer(request: "Request", response: Any) -> Answer:
    """Reads a response of Django, on the thread that made it; closes it if that is all."""
    answer = Answer(response.status_code, [], b"")
    try:
        answer.headers = list(read_headers(response))
        if not response.streaming:
            answer.body = response.content
        elif request.method != "HEAD" and answer.may_have_body:
            rest = iter(response)
            if request.META["SERVER_PROTOCOL"] == "HTTP/1.0" and not answer.has_length():
                rest = spool(rest, answer)  # its clients know no chunks
            answer.body, is_whole = take(rest)
            if not is_whole:
                answer.rest, answer.close = rest, response.close
    finally:
        if answer.rest is None:
            response.close()
    return answer


def read_headers(response: Any) -> Iterator[tuple[bytes, bytes]]:
    """Reads the headers and cookies of a response of Django."""
    for name, text in response.items():
        yield name.lower().encode("latin-1"), text.encode("latin-1")
    for cookie in response.cookies.values():
        yield b"set-cookie", cookie.output(header="").strip().encode("latin-1")


def spool(parts: Iterator[bytes], answer: Answer) -> Iterator[bytes]:
    """Writes all parts to a file, so that their length is known."""
    file = tempfile.SpooledTemporaryFile(PART * 16)  # noqa: SIM115 (closed when nobody reads it)
    for part in parts:
        file.write(part)
    answer.headers.append((b"content-length", b"%d" % file.tell()))
    file.seek(0)
    return read_parts(file)


def read_parts(file: IO[bytes]) -> Iterator[bytes]:
    """Reads a file to its end, and closes it."""
    with file:
        while part := file.read(PART):
            yield part


def poll(receive: Receive) -> Message | None:
    """Returns the next message if it has come already."""
    coroutine: Any = receive()
    try:
        coroutine.send(None)
    except StopIteration as stop:
        message: Message = stop.value
        return message
    coroutine.close()
    return None


class Client:
    """Who has sent a request, and gets the response."""

    def __init__(self, app: "Application", scope: Message, receive: Receive, send: Send) -> None:
        self.app, self.limits = app, app.limits
        self.scope = scope
        self.receive, self._send = receive, send
        self.fields = dict(scope["headers"])
        self.must_close = False  # the connection
        self.has_begun = False  # the response

    def is_gone(self) -> bool:
        message = poll(self.receive)
        return message is not None and message["type"] == "http.disconnect"

    async def send(self, message: Message) -> None:
        """Sends a message. Raises Gone if the client takes nothing of what was sent before."""
        try:
            async with asyncio.timeout(self.limits.stalled):
                await self._send(message)
        except TimeoutError:
            raise Gone from None

    async def send_part(self, body: bytes, *, more: bool = True) -> None:
        await self.send({"type": "http.response.body", "body": body, "more_body": more})

    async def begin(self, answer: Answer) -> None:
        """Sends the status and the headers."""
        self.has_begun = True
        headers = answer.headers
        if self.must_close or self.app.is_stopping:
            headers = [*headers, (b"connection", b"close")]
        await self._send(
            {"type": "http.response.start", "status": answer.status, "headers": headers}
        )

    async def finish(self, answer: Answer) -> None:
        """Sends a whole response."""
        body = answer.body if answer.may_have_body else b""
        if self.scope["method"] != "HEAD" or (body and not answer.has_length()):
            answer.headers = [each for each in answer.headers if each[0] != b"content-length"]
            if answer.may_have_body:
                answer.headers.append((b"content-length", b"%d" % len(body)))
        await self.begin(answer)
        if len(body) > PART:
            body = await self._send_long(body)
        if self.must_close:
            await self.send_part(body)
            await self._linger()
            body = b""
        await self._send({"type": "http.response.body", "body": body})

    async def _send_long(self, body: bytes) -> bytes:
        """Sends all but the last part. Where responses take too much memory, the longest goes."""
        unsent, task = self.app.unsent, asyncio.current_task()
        assert task is not None
        at = 0
        try:
            while len(body) - at > PART:
                unsent[task] = len(body) - at
                if sum(unsent.values()) > self.limits.unsent:
                    max(unsent, key=lambda each: unsent[each]).cancel()
                await self.send_part(body[at : at + PART])
                at += PART
        finally:
            unsent.pop(task, None)
        return body[at:]

    async def _linger(self) -> None:
        """Takes what the client still sends: closing now would destroy the response on its way."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.limits.linger):
                while (await self.receive()).get("more_body"):
                    pass

    async def refuse(self, refusal: Refusal) -> None:
        self.must_close |= refusal.status != 500  # then the request was complete
        accept, kind = (
            self.fields.get(name, b"").decode("latin-1") for name in (b"accept", b"content-type")
        )
        await self.finish(refusal.build(as_json=asks_for_json(self.scope["path"], accept, kind)))


class Body:
    """Reads the body of a request, and counts its bytes until it is closed."""

    def __init__(self, client: Client) -> None:
        self.client, self.limits, self.app = client, client.limits, client.app
        self.held = 0

    def __enter__(self) -> "Body":
        return self

    def __exit__(self, *_: object) -> None:
        self.app.held -= self.held

    async def read(self) -> bytes:
        """Returns the body. Raises Refusal, Gone. The API refuses what is too large itself, by its
        own rules, and gets a bit more than may be."""
        length = self._check_head()
        is_api = asks_for_json(self.client.scope["path"], "", "")
        if length > self.limits.body and not is_api:
            raise self._too_large()
        begun, parts, size = self.app.loop.time(), [], 0
        message = poll(self.client.receive)
        while True:
            if message is not None:
                if message["type"] == "http.disconnect":
                    raise Gone
                parts.append(message["body"])
                size += len(message["body"])
                self._hold(size)
                if size > self.limits.body and not is_api:
                    raise self._too_large()
                if size > self.limits.body or not message["more_body"]:
                    self.client.must_close = message["more_body"]
                    return b"".join(parts)
            allowed = self.limits.body_seconds + size / self.limits.body_rate
            try:
                async with asyncio.timeout_at(begun + min(allowed, self.limits.body_longest)):
                    message = await self.client.receive()
            except TimeoutError:
                message = poll(self.client.receive)  # it may have come while nothing could run
                if message is None:
                    raise Refusal(408, "The body took too long to arrive.") from None

    def _too_large(self) -> Refusal:
        return Refusal(413, f"The body may have {self.limits.body} bytes.")

    def _check_head(self) -> int:
        """Returns the Content-Length. Raises Refusal."""
        scope, fields = self.client.scope, self.client.fields
        hosts = sum(name == b"host" for name, _ in scope["headers"])
        if scope["http_version"] not in ("1.0", "1.1"):
            raise Refusal(400, "The version of HTTP is not 1.1.")
        if hosts > 1:
            raise Refusal(400, "The request has more than one Host header.")
        if scope["http_version"] == "1.1" and not hosts:
            raise Refusal(400, "The request has no Host header.")
        if scope["http_version"] == "1.0" and b"transfer-encoding" in fields:
            raise Refusal(400, "HTTP/1.0 has no Transfer-Encoding.")
        length = fields.get(b"content-length", b"0")
        if len(length) > _DIGITS:
            raise Refusal(400, "The Content-Length has too many digits.")
        return int(length)

    def _hold(self, size: int) -> None:
        more = max(size - self.limits.free, 0) - self.held
        if self.app.held + more > self.limits.bodies:
            raise Refusal(503, "There is no room for the body at the moment.")
        self.held += more
        self.app.held += more


class Application:
    """The ASGI application: one for each worker process. Its methods run on the event loop, but for
    those that say otherwise."""

    loop: asyncio.AbstractEventLoop

    def __init__(self, handler: Handler, site: str, threads: int, limits: Limits) -> None:
        parts = urlsplit(site)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        self.server = (parts.hostname or "localhost", str(port))  # for requests without a Host
        self.handler = handler
        self.limits = limits
        self.waiting = WaitingList(limits.waiting, limits.waiting_of_one)
        self.streams = WaitingList(limits.streams, limits.streams_of_one)
        self.is_stopping = False
        self.held = 0  # bytes of bodies
        self.unsent: dict[asyncio.Task[Any], int] = {}
        self._threads = ThreadPoolExecutor(threads, "web")
        self._free = asyncio.Semaphore(threads)
        self._prober = ThreadPoolExecutor(1, "readiness")
        self._check: asyncio.Future[Answer] | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        client = Client(self, scope, receive, send)
        with suppress(Gone):
            try:
                await self._route(client)
            except Refusal as refusal:
                if client.has_begun:
                    raise
                await client.refuse(refusal)

    async def _live(self, receive: Receive, send: Send) -> None:
        """Starts, and stops what waits on the signal: the event of ASGI comes only when all
        connections are closed."""
        await receive()
        self.loop = self.waiting.loop = self.streams.loop = asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                self._chain(number)
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})

    def _chain(self, number: int) -> None:
        before: Any = signal.getsignal(number)

        def handle(*given: Any) -> None:
            self.loop.call_soon_threadsafe(self.stop)
            before(*given)

        signal.signal(number, handle)

    def stop(self) -> None:
        """Has what waits answered as it stands."""
        self.is_stopping = True
        self.waiting.close()
        self.streams.close()

    def admit(self, new: Protocol) -> None:
        """Takes in a connection; where there are too many, an idle one must go. The system breaks
        off those that take nothing of what they were sent."""
        option = getattr(socket, "TCP_USER_TIMEOUT", None)  # Linux
        if option is not None:
            one = new.transport.get_extra_info("socket")
            one.setsockopt(socket.IPPROTO_TCP, option, int(self.limits.stalled * 1000))
        if len(new.connections) > self.limits.connections:
            idle = (each for each in new.connections if isinstance(each, Protocol) and each.is_idle)
            oldest = min(idle, key=lambda each: each.since, default=None)
            if oldest is not None:
                oldest.transport.abort()

    async def _route(self, client: Client) -> None:
        path, is_safe = client.scope["path"], client.scope["method"] in SAFE
        if path not in ("/healthz", "/readyz"):
            with Body(client) as body:
                await self._serve(client, await body.read())
            return
        client.must_close = bool({b"content-length", b"transfer-encoding"} & client.fields.keys())
        if not is_safe:
            await client.finish(Answer(405, [(b"allow", b"GET, HEAD")], b""))
        elif path == "/healthz":
            await client.finish(Answer(200, [*JSON], b'{"status": "ok"}'))
        else:
            await client.finish(await self._ask_readiness())

    async def _ask_readiness(self) -> Answer:
        """Asks Django, on a thread of its own; calls that come meanwhile share the answer."""
        check = self._check
        if check is None or check.done():
            check = self._check = self.loop.run_in_executor(self._prober, self._probe)
        await asyncio.wait((check,), timeout=self.limits.readiness)
        reason = "The check takes too long."
        if check.done():  # and not `self._check`, which may be that of a later call by now
            with suppress(Exception):
                answer = check.result()
                return Answer(answer.status, [*answer.headers], answer.body)
            reason = "The check failed; the log says why."
        text = json.dumps({"status": "unavailable", "reason": reason})
        return Answer(503, [*JSON], text.encode())

    def _probe(self) -> Answer:
        scope = {
            "method": "GET", "path": "/readyz", "raw_path": b"/readyz", "query_string": b"",
            "http_version": "1.1", "client": ("127.0.0.1", 0), "headers": [],
        }  # fmt: skip
        from web.asgi import build_meta

        return self._call_django(build_meta(scope, self.server), b"")

    async def _serve(self, client: Client, body: bytes) -> None:
        """Has Django answer, as often as it defers its response."""
        from web.asgi import build_meta

        meta = build_meta(client.scope, self.server)
        if body or "CONTENT_LENGTH" in meta:
            meta["CONTENT_LENGTH"] = str(len(body))
        has_streams = bool(self.limits.streams) and client.scope["http_version"] == "1.1"
        with Deferred(self.waiting, self.streams, has_streams=has_streams) as deferred:
            meta[DEFERRED] = deferred
            leaving: asyncio.Future[Message] | None = None
            try:
                while True:
                    answer = await self._run(client, self._call_django, meta, body)
                    if not (deferred.is_kept and deferred.waiter):
                        break
                    if deferred.is_open:
                        await self._send_open(client, answer, more=True)
                    leaving = leaving or asyncio.ensure_future(client.receive())
                    await deferred.waiter.wait(leaving)
                    if deferred.is_open:
                        await client.send_part(b"")  # returns when the last one is taken
                    if leaving.done():
                        raise Gone
                    deferred.resume()
            finally:
                if leaving is not None:
                    leaving.cancel()
            if client.has_begun:
                await self._send_open(client, answer, more=False)
        if not client.has_begun:
            await self._finish(client, answer)

    async def _run(self, client: Client, function: Callable[..., Any], *given: Any) -> Any:
        """Runs a function on a thread, once one is free, if the client is still there then."""
        async with self._free:
            if client.is_gone():
                raise Gone
            return await asyncio.wrap_future(self._threads.submit(function, *given))

    def _call_django(self, meta: dict[str, Any], body: bytes) -> Answer:
        """Runs on a thread. A failure is a response, unless one has begun: Django itself fails
        never."""
        from web.asgi import Request

        request = Request(meta, body)
        try:
            return build_answer(request, self.handler(request))
        except Exception:
            traceback.print_exc()
            if DEFERRED in meta:
                meta[DEFERRED].is_kept = False
            raise Refusal(500, "The log has the reason.") from None

    async def _send_open(self, client: Client, answer: Answer, *, more: bool) -> None:
        """Sends a part of a stream, before which all others have been taken."""
        if not client.has_begun:
            await client.begin(answer)
        await client.send_part(answer.body, more=more)

    async def _finish(self, client: Client, answer: Answer) -> None:
        """Sends a response, part by part if it is long. The client's end is its end."""
        if answer.rest is None:
            await client.finish(answer)
            return
        rest, is_last = answer.rest, False
        try:
            await client.begin(answer)
            await client.send_part(answer.body)
            while not is_last:
                data, is_last = await self._run(client, take, rest)
                await client.send_part(data, more=not is_last)
        finally:
            await self.loop.run_in_executor(self._threads, answer.close)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Start:
    """Makes the application of a worker process, which uvicorn starts anew (spawn)."""

    application: str
    threads: int
    limits: Limits = field(default_factory=Limits)

    def __call__(self) -> Application:
        die_with_parent()
        parent = multiprocessing.parent_process()
        if parent is not None and parent.pid != os.getppid():  # it died before the call above
            os._exit(1)
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # not what clients do wrong
        try:
            module, _, name = self.application.partition(":")
            handler: Handler = getattr(importlib.import_module(module), name)
        except Exception as error:
            traceback.print_exc()
            print(f"No web worker was started: {error or type(error).__name__}", file=sys.stderr)
            sys.exit(STARTUP_FAILURE)
        gc.collect()
        gc.freeze()  # what was loaded stays
        connections = min(self.limits.connections, allow_files() - _SPARE)
        limits = replace(self.limits, connections=connections)
        site = os.environ.get("SITE_URL", "http://localhost")
        return Application(handler, site, self.threads, limits)


def allow_files() -> int:
    """Raises the number of open files to what the system allows, and returns it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 8192 if hard == resource.RLIM_INFINITY else min(hard, 8192)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return soft


def configure(app: Any, **more: Any) -> uvicorn.Config:
    """Builds the configuration of uvicorn."""
    return uvicorn.Config(
        app,
        http=Protocol,
        loop="uvloop",
        ws="none",
        interface="asgi3",
        lifespan="on",
        log_config=None,
        access_log=False,  # ACCESS_LOG is Django's (web/observing.py)
        proxy_headers=False,  # TRUSTED_PROXIES is Django's (web/middleware.py)
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=GRACE,
        timeout_worker_healthcheck=10,
        **more,
    )


def read_options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="python -m front", description="The web server.")
    parser.add_argument("--host", default="127.0.0.1")
    counts: list[tuple[str, int, range, str]] = [
        ("port", 8000, range(1, 65_536), "1 to 65535"),
        ("workers", 1, range(1, 257), "processes"),
        ("threads", 8, range(1, 1_001), "threads of each process"),
        ("waiting", 3000, range(1_000_001), "calls with ?wait that a process holds"),
        ("streams", 1000, range(1_000_001), "streams of events that a process holds"),
    ]
    for name, default, allowed, text in counts:
        parser.add_argument(f"--{name}", type=number_in(allowed), default=default, help=text)
    parser.add_argument("--application", default="config.asgi:application")
    return parser.parse_args()


def number_in(allowed: range) -> Callable[[str], int]:
    """Reads an argument that is one of these numbers."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and int(text) in allowed):
            raise argparse.ArgumentTypeError(
                f"{text!r} is no number from {allowed[0]} to {allowed[-1]}"
            )
        return int(text)

    return read


def share_metrics() -> None:
    """Makes a folder in which the workers share their numbers (web.metrics), where they count."""
    is_on = os.environ.get("METRICS_TOKEN") or os.environ.get("METRICS_NETWORKS")
    if is_on and not os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        folder = tempfile.mkdtemp(prefix="reviewloop-metrics-")
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        atexit.register(shutil.rmtree, folder, ignore_errors=True)


@dataclass(frozen=True)
class Address:
    """Stands for the socket of a worker, which opens it when it is handed over: the system shares
    connections among such sockets, and a busy worker takes none that another could answer."""

    host: str
    port: int

    def __reduce__(self) -> tuple[Callable[..., socket.socket], tuple[str, int, bool]]:
        return open_socket, (self.host, self.port, True)


def open_socket(host: str, port: int, is_shared: bool) -> socket.socket:
    """Opens a socket that listens; with `is_shared` others may do so, too."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=2048, reuse_port=is_shared)


def listen(host: str, port: int, workers: int) -> tuple[Any, socket.socket]:
    """Returns what the workers get as their socket, and the socket that keeps the port.

    One worker, or workers where only Linux could share connections among them, get the one of this
    process, which outlives them. So do those whose socket systemd holds open.
    """
    if os.environ.get("LISTEN_PID") == str(os.getpid()):
        held = socket.socket(fileno=3)
        return held, held
    if workers == 1 or sys.platform != "linux":
        held = open_socket(host, port, is_shared=False)
        return held, held
    open_socket(host, port, is_shared=False).close()  # or another service would share its calls
    held = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind((host, port))
    return Address(host, port), held


def main() -> int:
    """Runs the workers until SIGTERM or SIGINT; returns the exit status."""
    options = read_options()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    # Nothing may come behind the reason why a worker cannot start.
    logging.getLogger("uvicorn.error").addFilter(lambda record: "died" in record.getMessage())
    share_metrics()
    try:
        listener, held = listen(options.host, options.port, options.workers)
    except OSError as error:
        print(f"Cannot listen on {options.host}:{options.port}: {error}", file=sys.stderr)
        return 1
    limits = Limits(waiting=options.waiting, streams=options.streams)
    start = Start(options.application, options.threads, limits)
    supervisor = Multiprocess(configure(start, factory=True, workers=options.workers), [listener])
    with held:
        supervisor.run()
    return int(any(each.exitcode == STARTUP_FAILURE for each in supervisor.processes))


if __name__ == "__main__":
    from front import main as run  # what workers are given must not be of the module __main__

    sys.exit(run())
