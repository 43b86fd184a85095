"""Clients that send too slowly: unfinished bodies, trickles, half a head, nothing at all."""

import contextlib
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

HEAD = b"POST /v1/api/loops HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n"
KINDS = (
    (HEAD, b""),  # a body that never comes
    (HEAD, b"x"),  # a body that trickles
    (b"GET /v1/test HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ", b"y"),  # a head that trickles
    (b"", b""),  # silence
)
TICK = 0.5  # seconds between two bytes


class SlowClients:
    """So many connections, each opened again when the server ends it; `ends` counts how."""

    def __init__(self, port: int, count: int) -> None:
        self._port = port
        self._open: dict[int, socket.socket] = {}
        self._count = count
        self.ends: Counter[str] = Counter()

    def keep_up(self, stop: threading.Event) -> None:
        """Keeps all connections open, and sends a byte on each of the trickling ones."""
        while not stop.wait(TICK):
            for number in range(self._count):
                if number not in self._open or not self._trickle(number):
                    self._connect(number)

    def fill(self) -> None:
        for number in range(self._count):
            self._connect(number)

    def close(self) -> None:
        for each in self._open.values():
            each.close()

    def _connect(self, number: int) -> None:
        connection = socket.create_connection(("127.0.0.1", self._port), timeout=10)
        connection.sendall(KINDS[number % len(KINDS)][0])
        connection.setblocking(False)
        self._open[number] = connection

    def _trickle(self, number: int) -> bool:
        """Sends the next byte; False once the connection has ended."""
        connection = self._open[number]
        try:
            with contextlib.suppress(BlockingIOError):
                received = connection.recv(4096)
                self.ends[received[9:12].decode() or "closed"] += 1
                connection.close()
                return False
            connection.send(KINDS[number % len(KINDS)][1])
        except OSError:
            self.ends["closed"] += 1
            connection.close()
            return False
        return True


@contextmanager
def slow_clients(port: int, count: int) -> Iterator[SlowClients]:
    """The clients, as long as the block lasts."""
    clients, stop = SlowClients(port, count), threading.Event()
    clients.fill()
    thread = threading.Thread(target=clients.keep_up, args=(stop,))
    thread.start()
    try:
        yield clients
    finally:
        stop.set()
        thread.join()
        clients.close()
