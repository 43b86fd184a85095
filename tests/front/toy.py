"""The web server in a thread, with an application of the test, and raw clients."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication

import uvloop

from front.limits import Limits
from front.server import Server
from tests.waiting import wait_until

PATIENCE = 10.0  # seconds


@dataclass
class Toy:
    """A running server; `stop` is what SIGTERM does."""

    port: int
    loop: asyncio.AbstractEventLoop
    event: asyncio.Event
    server: Server
    thread: threading.Thread

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.event.set)

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
def toy(application: WSGIApplication, threads: int = 2, **limits: Any) -> Iterator[Toy]:
    """Serves the application until the end of the block."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    started: list[Toy] = []
    ready = threading.Event()

    async def serve() -> None:
        event = asyncio.Event()
        loop = asyncio.get_running_loop()
        chosen = Limits(**{"parting": 0.05, **limits})  # idle connections hold up no test's end
        server = Server(application, site="http://review.test:81", threads=threads, limits=chosen)
        port = listener.getsockname()[1]
        started.append(Toy(port, loop, event, server, threading.current_thread()))
        await server.serve(listener, ready.set, event)

    def run() -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        yield started[0]
    finally:
        if thread.is_alive():
            started[0].stop()
            thread.join()
        listener.close()


def echo(environ: dict[str, Any], start: StartResponse) -> list[bytes]:
    """Responds with what arrived, a line for each key of the environment; the body last."""
    body = environ["wsgi.input"].read()
    lines = [f"{key}={environ[key]}" for key in sorted(environ) if not key.startswith("wsgi.")]
    start("200 OK", [("Content-Type", "text/plain")])
    return ["\n".join([*lines, ""]).encode("latin-1"), body]


def settings_of(answer: Answer) -> dict[str, str]:
    """The environment that `echo` saw."""
    lines = answer.body.decode("latin-1").split("\n")
    return {key: value for key, _, value in (line.partition("=") for line in lines)}


@dataclass
class Gate:
    """An application whose calls wait until the test lets them go."""

    waiting: int = 0
    ended: int = 0
    opened: threading.Event = field(default_factory=threading.Event)
    threads: set[int] = field(default_factory=set)

    def __call__(self, environ: dict[str, Any], start: StartResponse) -> list[bytes]:
        self.threads.add(threading.get_ident())
        if environ["PATH_INFO"] == "/wait":
            self.waiting += 1
            assert self.opened.wait(PATIENCE)
            self.ended += 1
        return echo(environ, start)

    def hold(self, count: int) -> None:
        wait_until(lambda: self.waiting == count)


def get(path: str, *headers: str) -> bytes:
    """A GET as bytes."""
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: a", *headers, "", ""]).encode()
