"""Generates load with little CPU: `python -m bench.load` reads one volley per line, as JSON.

One thread and raw sockets leave the machine's cores to what is measured. Connections stay open
from one volley to the next.
"""

import json
import select
import socket
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

CONNECTIONS = 16
PATIENCE = 60.0  # seconds without any response after which the server counts as hung


class Connection:
    """One keep-alive connection: at most one request is under way."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""
        self.missing = -1  # bytes; -1 until the head is there
        self.started = 0.0

    def send(self, request: bytes) -> None:
        self.received, self.missing = b"", -1
        self.started = time.perf_counter()
        self.socket.sendall(request)

    def receive(self) -> bool:
        """Reads what has arrived; returns True once the response is complete."""
        piece = self.socket.recv(262_144)
        if not piece:
            raise ConnectionError(f"closed after {self.received[:200]!r}")
        self.received += piece
        if self.missing >= 0:
            self.missing -= len(piece)
            return self.missing <= 0
        head, end, body = self.received.partition(b"\r\n\r\n")
        if not end:
            return False
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        if head.startswith(b"HTTP/1.1 204 "):
            length = b"0"  # it has neither a body nor a length
        if not length:
            raise ConnectionError(f"an answer without a length: {head!r}")
        self.missing = int(length) - len(body)
        return self.missing <= 0

    def status(self) -> int:
        return int(self.received[9:12])


@dataclass
class Tally:
    """The results of a volley: seconds per call, the statuses of failures, and the bytes of the
    last response."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    failures: Counter[int] = field(default_factory=Counter)
    size: int = 0

    def summary(self) -> dict[str, Any]:
        """Latencies in milliseconds."""
        ordered = sorted(self.latencies)
        return {
            "calls": len(ordered),
            "seconds": self.seconds,
            "failures": dict(self.failures),
            "size": self.size,
            **{
                f"p{percent}": ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] * 1000
                for percent in (50, 95, 99)
            },
        }


def fire(
    connections: list[Connection], requests: Iterator[bytes], *, seconds: float, calls: int
) -> Tally:
    """Keeps every connection busy until the time is over or all calls are made."""
    tally = Tally()
    poller = select.poll()
    by_number = {connection.socket.fileno(): connection for connection in connections}
    started = time.perf_counter()
    sent = 0
    for number, connection in by_number.items():
        connection.send(next(requests))
        poller.register(number, select.POLLIN)
        sent += 1
    busy = sent
    while busy:
        ready = poller.poll(PATIENCE * 1000)
        if not ready:
            raise TimeoutError(f"no answer within {PATIENCE:.0f} s")
        for number, _ in ready:
            connection = by_number[number]
            if not connection.receive():
                continue
            now = time.perf_counter()
            tally.latencies.append(now - connection.started)
            tally.size = len(connection.received)
            if not 200 <= connection.status() < 300:
                tally.failures[connection.status()] += 1
            if now - started < seconds and sent < calls:
                connection.send(next(requests))
                sent += 1
            else:
                poller.unregister(number)
                busy -= 1
    tally.seconds = time.perf_counter() - started
    return tally


def main() -> None:
    """Prints a summary for each line: port, requests (texts), seconds, calls, connections."""
    open_to: dict[int, list[Connection]] = {}
    for line in sys.stdin:
        order = json.loads(line)
        pool = open_to.setdefault(order["port"], [])
        while len(pool) < order["connections"]:
            pool.append(Connection(order["port"]))
        requests = cycle([text.encode() for text in order["requests"]])
        tally = fire(
            pool[: order["connections"]],
            requests,
            seconds=order["seconds"],
            calls=order["calls"],
        )
        print(json.dumps(tally.summary()), flush=True)


if __name__ == "__main__":
    main()
