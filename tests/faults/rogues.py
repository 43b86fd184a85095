"""Receivers that break the rules of HTTP, or misuse them."""

import contextlib
import gzip
import socket
import struct
import threading
from collections.abc import Callable, Iterator

Behaviour = Callable[[socket.socket, threading.Event], None]
GIGABYTE = 2**30
_PIECE = bytes(64 * 1024)
# ten gigabytes once unpacked
BOMB = gzip.compress(bytes(10 * 2**20), 9) * 1000


@contextlib.contextmanager
def rogue(behave: Behaviour) -> Iterator[str]:
    """Its URL. `behave` gets each connection once the request is read, on a thread of its own,
    and an event that is set at the end of the block."""
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)

    def attend(peer: socket.socket) -> None:
        with peer, contextlib.suppress(OSError):
            peer.settimeout(30)
            read_request(peer)
            behave(peer, over)

    def listen() -> None:
        with contextlib.suppress(OSError):
            while True:
                peer, _ = listener.accept()
                threading.Thread(target=attend, args=[peer], daemon=True).start()

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/hook"
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def read_request(peer: socket.socket) -> None:
    with peer.makefile("rb") as stream:
        length = 0
        while line := stream.readline().strip().lower():
            if line.startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        stream.read(length)


def head(status: str, **headers: object) -> bytes:
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode()


def silent(peer: socket.socket, over: threading.Event) -> None:
    over.wait(60)


def dripping(peer: socket.socket, over: threading.Event) -> None:
    """A byte a second."""
    peer.sendall(head("200 OK", Content_Length=1000))
    while not over.wait(1):
        peer.sendall(b".")


def resetting(peer: socket.socket, over: threading.Event) -> None:
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class Flood:
    """A gigabyte; `sent` is how much of it was taken."""

    def __init__(self) -> None:
        self.sent = 0

    def behave(self, peer: socket.socket, over: threading.Event) -> None:
        peer.sendall(head("200 OK", Content_Length=GIGABYTE))
        while self.sent < GIGABYTE and not over.is_set():
            self.sent += peer.send(_PIECE)


def bombing(peer: socket.socket, over: threading.Event) -> None:
    peer.sendall(head("200 OK", Content_Encoding="gzip", Content_Length=len(BOMB)) + BOMB)


def redirecting(location: str) -> Behaviour:
    def behave(peer: socket.socket, over: threading.Event) -> None:
        peer.sendall(head("307 Temporary Redirect", Location=location, Content_Length=0))

    return behave
