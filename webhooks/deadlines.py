"""Cuts the connections of exchanges whose time is over, however slowly their bytes come."""

import contextlib
import heapq
import itertools
import socket
import threading
import time

LENIENCY = 0.02  # seconds; waking up for each deadline would take time from what is sent meanwhile


class Watchdog:
    """Cuts the connections of all deadlines that pass, on one thread."""

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, Deadline]] = []
        self._changed = threading.Condition()
        self._numbers = itertools.count()
        self._thread: threading.Thread | None = None

    def add(self, deadline: "Deadline") -> None:
        with self._changed:
            heapq.heappush(self._waiting, (deadline.at, next(self._numbers), deadline))
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
                self._thread.start()
            if self._waiting[0][2] is deadline:  # else it looks early enough anyway
                self._changed.notify()

    def _watch(self) -> None:
        while True:
            for deadline in self._take_passed():
                deadline.cut()

    def _take_passed(self) -> "list[Deadline]":
        """Waits until a deadline has passed, and LENIENCY more; returns all that have passed then.

        Returns none where an earlier deadline was added meanwhile.
        """
        with self._changed:
            while not self._waiting:
                self._changed.wait()
            if (seconds := self._waiting[0][0] - time.monotonic()) > 0:
                self._changed.wait(seconds + LENIENCY)
            now, passed = time.monotonic(), []
            while self._waiting and self._waiting[0][0] <= now:
                passed.append(heapq.heappop(self._waiting)[2])
            return passed


class Deadline:
    """The time limit of a whole exchange; at its end the watchdog cuts the connection."""

    def __init__(self, seconds: float) -> None:
        self.at = time.monotonic() + seconds
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        _WATCHDOG.add(self)

    @property
    def left(self) -> float:
        return max(0.001, self.at - time.monotonic())

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self.at

    def watch(self, connection: socket.socket) -> None:
        """Adds a connection that is cut at the end, even if TLS has taken over its descriptor."""
        with self._lock:
            self._sockets.append(connection.dup())
        if self.passed:
            self.cut()

    def cut(self) -> None:
        with self._lock:
            for connection in self._sockets:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Lets go of the connections: the exchange is over, and nothing is cut any more."""
        with self._lock:
            for connection in self._sockets:
                connection.close()
            self._sockets.clear()


_WATCHDOG = Watchdog()
