"""One connection: reads requests, has them answered one by one, and writes the responses."""

import asyncio
import math
import socket
from typing import TYPE_CHECKING, cast

from front.limits import Limits
from front.parked_calls import Hold
from front.reading import Message, Reader
from front.refusals import Refusal
from front.responses import Response, render_whole
from web.late_answers import KEPT

if TYPE_CHECKING:
    from front.server import Server

AHEAD = 64 * 1024  # bytes that are kept unread while a request is being answered


class Connection(asyncio.Protocol):
    """The states: receiving a request, or answering `current`, or lingering (`is_deaf`).

    `deadline` is the time when the server's sweep ends the state.
    """

    __slots__ = (
        "_ahead", "_has_unread", "_idle_since", "_is_watched", "_limits", "_refusal",
        "_stalled_at", "_transport", "_unsent", "current", "deadline", "is_deaf", "is_gone",
        "is_writable", "reader", "server",
    )  # fmt: skip
    _transport: asyncio.Transport

    def __init__(self, server: "Server") -> None:
        self.server = server
        self._limits: Limits = server.limits
        self._ahead = b""
        self._refusal: Refusal | None = None
        self.is_writable = True
        self._unsent = 0
        self._stalled_at = 0.0
        self.current: Message | None = None
        self.is_deaf = self.is_gone = self._has_unread = self._is_watched = False
        self.deadline = math.inf

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        peer = self._transport.get_extra_info("peername")
        remote = peer[0] if isinstance(peer, tuple) else ""
        self.reader = Reader(self.server.common, remote, self._transport.write)
        self.deadline = self.reader.deadline
        self._idle_since = self.server.loop.time()
        self.server.admit(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_gone = True
        self.server.connections.discard(self)
        self.reader.forget()
        message, self.current = self.current, None
        if message is not None:
            self.server.memory.give_back(message.size)
            if message.hold is not None:
                message.hold.give_up()
            if message.is_paused:
                self.server.threads.submit((self, message))  # closes what is left of it

    # Reading

    def data_received(self, data: bytes) -> None:
        if self.is_deaf:
            self._has_unread = True
            return
        if self.current is not None:
            self._ahead += data
            if len(self._ahead) > AHEAD:
                self._transport.pause_reading()
            return
        self._read(data)

    def _read(self, data: bytes) -> None:
        if self._refusal is not None:
            self._refusal.see(data)
        else:
            try:
                self.reader.feed(data)
            except Refusal as refusal:
                self._refusal = refusal
        self._take_next()

    def _take_next(self) -> None:
        """Takes up what is to be answered next, or goes on reading."""
        reader = self.reader
        if reader.complete:
            message = self.current = reader.complete.popleft()
            self.is_deaf = not message.keep_alive
            self.deadline = math.inf
            self.server.dispatch(self, message)
        elif self._refusal is not None and self._refusal.is_ready:
            self._refuse(self._refusal)
        elif self._ahead:
            data, self._ahead = self._ahead, b""
            self._transport.resume_reading()
            self._read(data)
        else:
            self.deadline = reader.deadline

    # Writing, in the event loop

    def send(self, message: Message, data: bytes) -> None:
        """Sends a part of a response, and has the next one made once the client has taken it."""
        if not self.is_gone:
            self._transport.write(data)
        if self.is_writable or self.is_gone:
            self.server.threads.submit((self, message))
        else:
            message.is_paused = True

    def finish(self, message: Message, data: bytes) -> None:
        """Sends the last part of a response, and takes up the next request."""
        if self.is_gone:
            return
        self._transport.write(data)
        self.server.memory.give_back(message.size)
        self.current = None
        self._idle_since = self.server.loop.time()
        if not message.keep_alive and (message.is_cut or self._has_unread or self._ahead):
            self._hang_up()
        elif not message.keep_alive:
            self._transport.close()
        else:
            self._take_next()

    def hold(self, message: Message, data: bytes = b"") -> None:
        """Keeps the request while no thread works on it (`front.parked_calls`).

        `data` is a part of a stream. The system breaks off a stream whose client is silently gone,
        because nobody confirms what it was sent.
        """
        seat = message.environ.pop(KEPT)
        if self.is_gone:
            seat.leave()
            return
        if data:
            self._transport.write(data)
            if not self._is_watched:
                self._is_watched = True
                self._limit_silence()
        Hold(self, message, seat)

    def _limit_silence(self) -> None:
        milliseconds = int(self._limits.stalled * 1000)
        option = getattr(socket, "TCP_USER_TIMEOUT", None)  # Linux
        if option is not None:
            one = self._transport.get_extra_info("socket")
            one.setsockopt(socket.IPPROTO_TCP, option, milliseconds)

    def break_off(self, message: Message, data: bytes = b"") -> None:
        """Ends a response that cannot be completed: the client sees the connection break."""
        if not self.is_gone:
            self._transport.abort()

    def pause_writing(self) -> None:
        self.is_writable = False

    def resume_writing(self) -> None:
        self.is_writable = True
        if self.current is None:
            return
        if self.current.is_paused:
            self.current.is_paused = False
            self.server.threads.submit((self, self.current))
        elif self.current.hold is not None:
            self.current.hold.catch_up()

    def _refuse(self, refusal: Refusal) -> None:
        message = Message({"REQUEST_METHOD": ""}, "1.1", 0)
        message.keep_alive = False
        status, headers, body = refusal.render()
        self._transport.write(render_whole(message, Response(status, headers), body))
        self._hang_up()

    # The end

    def _hang_up(self) -> None:
        """Closes the connection, but not while the client sends: that would destroy the response
        on its way."""
        self.is_deaf, self._ahead = True, b""
        self.reader.forget()
        if not self._transport.is_closing():
            self._transport.resume_reading()
            self._transport.write_eof()
            self.deadline = self.server.loop.time() + self._limits.linger

    def end(self) -> None:
        """Ends the state that the connection is in, because its time is over."""
        if self.is_deaf or (self.reader.is_idle and self._refusal is None):
            self._transport.abort()
        else:
            self._refuse(self._refusal or self.reader.time_out())

    def hurry(self, stopped_at: float) -> None:
        """Ends the connection soon, because the server has begun to stop.

        A proxy may be sending the next request over an idle connection right now, so it gets a
        moment; a request that is being received gets a few.
        """
        if self.current is not None:
            return
        if self.is_deaf:
            self._transport.close()
        elif not self.reader.is_idle:
            self.deadline = min(self.deadline, stopped_at + self._limits.stopping)
        elif self.server.loop.time() > max(stopped_at, self._idle_since) + self._limits.parting:
            self._transport.close()

    def count_unsent(self, now: float) -> int:
        """Returns the bytes that the client has not taken, and breaks off if it takes none."""
        unsent = self._transport.get_write_buffer_size()
        if unsent == 0 or unsent < self._unsent or self._unsent == 0:
            self._stalled_at = now
        elif now - self._stalled_at > self._limits.stalled:
            self._transport.abort()
        self._unsent = unsent
        return unsent

    def drop(self) -> None:
        """Closes the connection without a response."""
        self._transport.abort()
