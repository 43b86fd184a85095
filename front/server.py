"""The worker process: an event loop with the connections, and the threads that run Django."""

import asyncio
import ctypes
import socket
import struct
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from wsgiref.types import WSGIApplication

from front.answering import Threads
from front.connection import Connection
from front.environ import build_base
from front.limits import Limits, Memory
from front.parked_calls import Room
from front.readiness import Readiness, answer_health
from front.reading import Common, Message
from web.late_answers import ROOM, STREAMS

SWEEP = 1.0  # seconds
SO_ATTACH_FILTER = 26  # asm-generic/socket.h
# A program of BPF that drops packets with the flag SYN, which ask for a new connection.
_DROP_SYN = ctypes.create_string_buffer(
    struct.pack("=HBBI", 0x30, 0, 0, 13)  # load the flags of the header of TCP
    + struct.pack("=HBBI", 0x45, 0, 1, 0x02)  # if SYN is among them, go on, else skip one
    + struct.pack("=HBBI", 0x06, 0, 0, 0)  # drop it
    + struct.pack("=HBBI", 0x06, 0, 0, 0xFFFFFFFF)  # take all of it
)
HANDSHAKES = 0.1  # seconds for connections that have begun, when there are no new ones any more
_CROWD = 16  # one in so many connections makes room for new ones


class Server:
    """Serves an application on one socket. Its methods run in the event loop, except `tell`."""

    def __init__(
        self, application: WSGIApplication, *, site: str, threads: int, limits: Limits | None = None
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.limits = limits or Limits()
        self.memory = Memory(self.limits)
        self.room = Room(self.limits.waiting, self.limits.waiting_of_one)
        self.streams = Room(self.limits.streams, self.limits.streams_of_one)
        base = {**build_base(site), ROOM: self.room}
        if self.limits.streams:
            base[STREAMS] = self.streams
        self.common = Common(base, self.limits, self.memory, self.loop.time)
        self.connections: set[Connection] = set()
        self.threads = Threads(application, threads, self.tell)
        self.readiness = Readiness(application, self)
        self.is_stopping = False
        self._swept_at = self.loop.time()
        self._told: deque[tuple[Callable[..., None], Message, bytes]] = deque()
        self._is_woken = False

    async def serve(
        self, listener: socket.socket, ready: Callable[[], Any], stop: asyncio.Event
    ) -> None:
        """Serves until `stop` is set, and then answers what is under way."""
        listening = await self.loop.create_server(
            lambda: Connection(self), sock=listener, backlog=1024
        )
        self._sweep()
        ready()
        await stop.wait()
        self.is_stopping = True
        _drop_new(listener)
        await asyncio.sleep(HANDSHAKES)
        late = _accept_last(listener)
        listening.close()
        for each in late:
            await self.loop.connect_accepted_socket(lambda: Connection(self), each)
        self.room.close()
        self.streams.close()
        stopped_at = self.loop.time()
        while self.connections:
            for connection in list(self.connections):
                connection.hurry(stopped_at)
            await asyncio.sleep(0.02)
        await asyncio.to_thread(self.threads.stop)

    def dispatch(self, connection: Connection, message: Message) -> None:
        """Has a complete request answered."""
        path = message.environ["PATH_INFO"]
        if self.is_stopping:
            message.keep_alive = False
        if path == "/healthz":
            answer_health(connection, message)
        elif path == "/readyz":
            self.readiness.ask(connection, message)
        else:
            self.threads.submit((connection, message))

    def tell(self, function: Callable[..., None], message: Message, data: bytes) -> None:
        """Runs a function in the event loop; threads call this."""
        self._told.append((function, message, data))
        if not self._is_woken:
            self._is_woken = True
            self.loop.call_soon_threadsafe(self._hear)

    def _hear(self) -> None:
        self._is_woken = False
        while self._told:
            function, message, data = self._told.popleft()
            function(message, data)

    def admit(self, connection: Connection) -> None:
        """Takes in a connection; where there are too many, those that wait longest must go."""
        if len(self.connections) >= self.limits.connections:
            waiting = [other for other in self.connections if other.current is None]
            waiting.sort(key=lambda other: other.deadline)
            for other in waiting[: max(1, len(waiting) // _CROWD)]:
                other.drop()
                self.connections.discard(other)
        self.connections.add(connection)

    def _sweep(self) -> None:
        """Ends what has taken too long.

        Where this process was stopped itself, it first reads what clients have sent meanwhile.
        """
        now = self.loop.time()
        was_stopped, self._swept_at = now - self._swept_at > 3 * SWEEP, now
        unsent = 0
        for connection in list(self.connections):
            if connection.deadline < now and not was_stopped:
                connection.end()
            unsent += connection.count_unsent(now)
        if unsent > self.limits.unsent:
            max(self.connections, key=lambda each: each.count_unsent(now)).drop()
        self.loop.call_later(SWEEP, self._sweep)


def _drop_new(listener: socket.socket) -> None:
    """Drops attempts to connect to a socket that is about to be closed, where Linux allows it.

    Clients repeat them after a second, and are refused then. Closing resets connections that have
    begun and are not accepted: elsewhere those that come in the microseconds before the end.
    """
    if sys.platform == "linux":
        drop = struct.pack("@HP", len(_DROP_SYN) // 8, ctypes.addressof(_DROP_SYN))
        with suppress(PermissionError):  # some systems ask for a privilege
            listener.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, drop)


def _accept_last(listener: socket.socket) -> list[socket.socket]:
    """Accepts what waits at a socket that is about to be closed."""
    accepted = []
    with suppress(BlockingIOError):
        while True:
            accepted.append(listener.accept()[0])
            accepted[-1].setblocking(False)
    return accepted
