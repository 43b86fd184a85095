"""The web server in a thread, with an application of the test, and raw clients."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from django.http import HttpResponse

from front import configure
from tests.waiting import wait_until
from web.asgi import Request
from web.server.application import Application, Handler
from web.server.limits import Limits
from web.server.protocol import Protocol
from web.waiting import Deferred, get_deferred

PATIENCE = 10.0  # seconds


@dataclass
class Toy:
    """A running server; `stop` is what SIGTERM does."""

    port: int
    app: Application
    server: uvicorn.Server
    thread: threading.Thread

    def stop(self) -> None:
        self.server.should_exit = True

    def connections(self) -> list[Protocol]:
        return list(self.server.server_state.connections)  # type: ignore[arg-type]

    def connect(self) -> "Caller":
        return Caller(socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE))

    def exchange(self, raw: bytes) -> "Answer":
        """Sends the bytes on a connection of their own, and reads one response."""
        with self.connect() as caller:
            caller.send(raw)
            return caller.read()


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Caller:
    """A client that sends and reads bytes."""

    socket: socket.socket
    _rest: bytes = field(default=b"")

    def __enter__(self) -> "Caller":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, raw: bytes) -> None:
        self.socket.sendall(raw)

    def read_all(self) -> bytes:
        """Everything until the server closes."""
        data, self._rest = self._rest, b""
        while piece := self.socket.recv(65536):
            data += piece
        return data

    def read(self, *, is_head: bool = False) -> Answer:
        """The next response, by its Content-Length."""
        head = self._read_until(b"\r\n\r\n").decode("latin-1")
        first, *lines = head.split("\r\n")
        headers = {name.lower(): value for name, _, value in (x.partition(": ") for x in lines)}
        length = 0 if is_head else int(headers.get("content-length", "0"))
        while len(self._rest) < length:
            self._more()
        body, self._rest = self._rest[:length], self._rest[length:]
        return Answer(int(first.split()[1]), headers, body)

    def is_closed(self) -> bool:
        """Whether the server ends the connection without another byte."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def _read_until(self, mark: bytes) -> bytes:
        while mark not in self._rest:
            self._more()
        found, _, self._rest = self._rest.partition(mark)
        return found

    def _more(self) -> None:
        piece = self.socket.recv(65536)
        assert piece, f"closed after {self._rest!r}"
        self._rest += piece


@contextmanager
def toy(handler: Handler, threads: int = 2, **limits: Any) -> Iterator[Toy]:
    """Serves what the handler answers until the end of the block."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    app = Application(handler, "http://review.test:81", threads, Limits(**limits))
    server = uvicorn.Server(configure(app))
    thread = threading.Thread(target=server.run, args=([listener],))
    port = listener.getsockname()[1]
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive())
        yield Toy(port, app, server, thread)
    finally:
        server.should_exit = True
        thread.join()


def echo(request: Request) -> HttpResponse:
    """Responds with what arrived, a line for each key of META; the body last."""
    meta = request.META
    lines = [f"{key}={meta[key]}" for key in sorted(meta) if not key.startswith(("wsgi.", "web."))]
    content = "\n".join([*lines, ""]).encode("latin-1", "replace") + request.read()
    return HttpResponse(content, content_type="text/plain")


def hello(request: Request) -> HttpResponse:
    """What the processes of test_supervisor serve."""
    return HttpResponse("Hello world!")


def deferred_of(request: Request) -> Deferred:
    """What defers the response to a request of this server."""
    deferred = get_deferred(request.META)
    assert deferred
    return deferred


def settings_of(answer: Answer) -> dict[str, str]:
    """The META that `echo` saw."""
    lines = answer.body.decode("latin-1").split("\n")
    return {key: value for key, _, value in (line.partition("=") for line in lines)}


@dataclass
class Gate:
    """An application whose calls wait until the test lets them go."""

    waiting: int = 0
    ended: int = 0
    opened: threading.Event = field(default_factory=threading.Event)
    threads: set[int] = field(default_factory=set)

    def __call__(self, request: Request) -> HttpResponse:
        self.threads.add(threading.get_ident())
        if request.path == "/wait":
            self.waiting += 1
            assert self.opened.wait(PATIENCE)
            self.ended += 1
        return echo(request)

    def hold(self, count: int) -> None:
        wait_until(lambda: self.waiting == count)


def get(path: str, *headers: str) -> bytes:
    """A GET as bytes."""
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: a", *headers, "", ""]).encode()
