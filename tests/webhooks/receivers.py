"""Receivers of webhooks on loopback, well-behaved and otherwise. Real sockets, real HTTP."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from django.db import connection

from bench.serving import free_port


@dataclass(frozen=True)
class Received:
    """One POST as it came in."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def webhook_id(self) -> str:
        return self.headers["webhook-id"]


@dataclass(frozen=True)
class Reply:
    status: int = 204
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


class Receiver:
    """Keeps what it got, and answers what `respond` says, as soon as `free` is set."""

    def __init__(self, respond: Callable[[Received], Reply], port: int) -> None:
        self.respond = respond
        self.got: list[Received] = []
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        self.free = threading.Event()
        self.free.set()
        self.server = ThreadingHTTPServer(("127.0.0.1", port), handler_of(self))
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign] # they hang up
        self.port = int(self.server.server_address[1])
        self.url = f"http://127.0.0.1:{self.port}/hook"

    def take(self, received: Received) -> Reply:
        with self.lock:
            self.got.append(received)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            self.free.wait(10)
            return self.respond(received)
        finally:
            with self.lock:
                self.at_once -= 1


def handler_of(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 5

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = receiver.take(Received(self.path, headers, body))
            connection.close()  # where `respond` has looked into the database
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.status != 204:
                self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def do_GET(self) -> None:
            receiver.take(Received("GET " + self.path, dict(self.headers.items()), b""))
            self.send_error(404)

        def do_CONNECT(self) -> None:
            self.do_GET()

        def log_message(self, *args: object) -> None: ...

    return Handler


@contextlib.contextmanager
def receiving(
    respond: Callable[[Received], Reply] = lambda _: Reply(),
    *,
    tls: ssl.SSLContext | None = None,
    port: int = 0,
) -> Iterator[Receiver]:
    """A receiver for the length of the block, on a free port by default."""
    receiver = Receiver(respond, port)
    if tls is not None:
        # the handshake waits for the thread of the connection
        receiver.server.socket = tls.wrap_socket(
            receiver.server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=receiver.server.serve_forever, args=[0.01], daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.free.set()
        receiver.server.shutdown()
        receiver.server.server_close()
        thread.join()


@contextlib.contextmanager
def misbehaving(behave: Callable[[socket.socket, threading.Event], None]) -> Iterator[int]:
    """The port of a server that reads one request and then does what it likes.

    `behave` gets the connection, and an event that is set when the test is over.
    """
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer, contextlib.suppress(OSError):
                peer.settimeout(5)
                read_request(peer)
                behave(peer, over)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def read_request(peer: socket.socket) -> bytes:
    """Reads a request, so that the answer is not lost in a reset."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += peer.recv(65_536)
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    while lengths and len(body) < int(lengths[0].split(b":")[1]):
        body += peer.recv(65_536)
    return data


def dead_url() -> str:
    """An address on loopback where nobody listens: connections are refused."""
    return f"http://127.0.0.1:{free_port()}/hook"
