"""uvicorn's HTTP protocol, with bounds for what uvicorn bounds nowhere."""

import asyncio
import socket
from typing import TYPE_CHECKING, Any

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from web.server.limits import LAST_LOOK

if TYPE_CHECKING:
    from web.server.application import Application


class Protocol(HttpToolsProtocol):
    """Bounds the head in bytes and seconds, trailers, what is sent ahead, and connections."""

    app: "Application"

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.limits = self.app.limits
        self.timer: asyncio.TimerHandle | None = None  # runs until a head is complete
        self.is_reading = False  # a message
        self.unread = 0  # bytes since the last that was of a body, or ended a head or a message
        self.running: RequestResponseCycle | None = None  # the request that was started last
        self.since = self.loop.time()  # the last message was complete

    @property
    def is_idle(self) -> bool:
        """Whether no complete request of it is being answered."""
        return not self.running or self.running.response_complete or self.running.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_timer()
        option = getattr(socket, "TCP_USER_TIMEOUT", None)  # Linux
        if option is not None:  # else it retries for a quarter of an hour what nobody confirms
            one = transport.get_extra_info("socket")
            one.setsockopt(socket.IPPROTO_TCP, option, int(self.limits.stalled * 1000))
        if len(self.connections) > self.limits.connections:
            idle = (each for each in self.connections if isinstance(each, Protocol))
            oldest = min((each for each in idle if each.is_idle), key=lambda each: each.since)
            oldest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        if self.running:  # uvicorn tells only the last of several that were sent ahead
            self.running.disconnected = True
            self.running.message_event.set()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        self.app.stop()  # the event of ASGI comes only when all connections are closed
        super().shutdown()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self.running = cycle
        super()._start_asgi_task(cycle, app)

    def _start_timer(self) -> None:
        if self.timer is None:
            self.timer = self.loop.call_later(self.limits.head_seconds, self._look_again)

    def _stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def _look_again(self) -> None:
        self.timer = self.loop.call_later(LAST_LOOK, self._end_head)

    def _end_head(self) -> None:
        if self.is_reading:
            self.send_400_response("The headers took too long to arrive.")
        else:  # browsers open connections that they may use later, and expect no response
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        if not self.is_reading:
            data = data.lstrip(b"\r\n")  # blank lines must not keep a connection
            if not data:
                return
        self._unset_keepalive_if_required()
        self.unread += len(data)
        try:
            self.parser.feed_data(data)
        except HttpParserUpgrade as upgrade:
            self.data_received(self._drop_upgrade() + data[upgrade.args[0] :])
        except HttpParserError:
            self.send_400_response("Invalid HTTP request received.")
        else:
            if self.unread > self.limits.head:
                self.send_400_response("The headers are too large.")

    def _drop_upgrade(self) -> bytes:
        """Returns the head without its Upgrade, for a new parser: the old one passes over the body.

        Java's client asks for h2c in every call over plain HTTP.
        """
        version = self.parser.get_http_version().encode()
        head = [self.parser.get_method(), b" ", self.url, b" HTTP/", version, b"\r\n"]
        for name, value in self.headers:
            if name != b"upgrade":
                head += [name, b": ", value, b"\r\n"]
        self.parser = HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn has it
        return b"".join([*head, b"\r\n"])

    def send_400_response(self, msg: str) -> None:
        """Refuses what comes, behind the response to the request before it."""
        last = self.running
        if last and not last.response_complete and (last.response_started or not last.more_body):
            last.keep_alive = False
        elif not self.transport.is_closing():
            super().send_400_response(msg)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.is_reading = True
        self._start_timer()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.timer is None:  # a trailer must not pass for a header
            return
        super().on_header(name, value)
        if len(self.headers) > self.limits.headers:
            raise ValueError("too many headers")

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():  # it comes again without
            if self.parser.get_method() == b"CONNECT":
                raise ValueError("no proxy")
            return
        self._stop_timer()
        self.unread = 0
        if len(self.pipeline) >= self.limits.ahead:
            raise ValueError("too many requests ahead")
        super().on_headers_complete()
        self.flow.resume_reading()  # only who reads sees a client leave

    def on_body(self, body: bytes) -> None:
        self.unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self.is_reading = False
        self.unread = 0
        self.since = self.loop.time()
        if not self.parser.should_upgrade():
            super().on_message_complete()
