"""A stream sends its parts when there is something to send, and holds no thread meanwhile."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from wsgiref.types import StartResponse

import pytest

from front.parked_calls import Room
from tests.front.toy import Caller, Toy, get, toy
from tests.waiting import wait_until
from web.late_answers import get_resumed, get_streams, keep_open

BIG = 1024 * 1024


@dataclass
class Wire:
    """An application whose streams send what is on the wire of their topic."""

    beat: float = 30.0
    sent: dict[str, list[bytes]] = field(default_factory=dict)
    calls: int = 0
    room: Any = None
    is_broken: bool = False

    def __call__(self, environ: dict[str, Any], start: StartResponse) -> list[bytes]:
        self.calls += 1
        self.room = get_streams(environ)
        topic, _, group = environ["PATH_INFO"].strip("/").partition("/")
        seat = get_resumed(environ) or self.room.take(topic, group, self.beat)
        if seat is None:
            start("429 Too Many Requests", [])
            return [b"full"]
        if self.is_broken:
            raise RuntimeError("as the test wants it")
        lines = self.sent.get(topic, [])
        seen = seat.state or 0
        seat.state = len(lines)
        seat.renew(self.beat)
        if not (seat.remaining == 0 or lines[-1:] == [b"end"]):
            keep_open(environ, seat)
        start("200 OK", [("Content-Type", "text/plain"), ("X-Call", str(self.calls))])
        return lines[seen:] or [b"."]

    def put(self, topic: str, line: bytes) -> None:
        self.sent.setdefault(topic, []).append(line)
        self.room.wake(topic)


@pytest.fixture
def callers() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def open_stream(server: Toy, callers: ExitStack, path: str) -> Caller:
    caller = callers.enter_context(server.connect())
    caller.send(get(path))
    head = caller.read(is_head=True)
    assert (head.status, head.headers["transfer-encoding"]) == (200, "chunked")
    assert "content-length" not in head.headers
    assert chunk(caller) == b"."
    return caller


def chunk(caller: Caller) -> bytes:
    """The next chunk of the body; b"" is the last."""
    size = int(caller._read_until(b"\r\n"), 16)
    data = b""
    while len(data) < size:
        if not caller._rest:
            caller._more()
        data, caller._rest = (
            data + caller._rest[: size - len(data)],
            caller._rest[size - len(data) :],
        )
    assert caller._read_until(b"\r\n") == b""
    return data


def test_parts_come_when_there_are_any(callers: ExitStack) -> None:
    wire = Wire()
    with toy(wire, threads=1, streams_of_one=100) as server:
        streams = [open_stream(server, callers, f"/{number % 2}") for number in range(100)]
        wire.put("1", b"one")
        assert {chunk(caller) for caller in streams[1::2]} == {b"one"}
        assert wire.calls == 150  # nobody else was called
        wire.put("1", b"two")
        wire.put("0", b"zero")
        assert {chunk(caller) for caller in streams[1::2]} == {b"two"}
        assert {chunk(caller) for caller in streams[::2]} == {b"zero"}
        assert wire.room.count() == 100


def test_a_stream_that_ends_leaves_its_connection_to_others(callers: ExitStack) -> None:
    wire = Wire()
    with toy(wire) as server:
        caller = open_stream(server, callers, "/a")
        caller.send(get("/b"))  # sent ahead
        wire.put("a", b"end")
        assert [chunk(caller), chunk(caller)] == [b"end", b""]
        assert caller.read(is_head=True).status == 200
        assert chunk(caller) == b"."


def test_it_beats(callers: ExitStack) -> None:
    wire = Wire(beat=0.05)
    with toy(wire) as server:
        caller = open_stream(server, callers, "/a")
        assert [chunk(caller) for _ in range(3)] == [b"."] * 3


def test_a_client_of_http_1_0_reads_until_the_end(callers: ExitStack) -> None:
    wire = Wire()
    with toy(wire) as server:
        caller = callers.enter_context(server.connect())
        caller.send(b"GET /a HTTP/1.0\r\n\r\n")
        wait_until(lambda: wire.calls == 1)
        wire.put("a", b"end")
        head, _, body = caller.read_all().partition(b"\r\n\r\n")
        assert (b"chunked" in head, body) == (False, b".end")


def test_there_is_room_for_so_many(callers: ExitStack) -> None:
    wire = Wire()
    with toy(wire, streams=3, streams_of_one=2) as server:
        for _ in range(2):
            open_stream(server, callers, "/a/anna")
        assert server.exchange(get("/a/anna")).status == 429
        assert not wire.room.is_full
        open_stream(server, callers, "/a/ben")
        assert wire.room.is_full
        assert server.exchange(get("/a/carla")).status == 429
        assert server.server.room.count() == 0  # calls that wait have seats of their own
        callers.close()
        wait_until(lambda: wire.room.count() == 0)


def test_a_server_that_stops_ends_them(callers: ExitStack) -> None:
    wire = Wire()
    with toy(wire) as server:
        caller = open_stream(server, callers, "/a")
        wire.beat = 0
        server.stop()
        assert [chunk(caller), chunk(caller)] == [b".", b""]
        assert caller.is_closed()


def test_a_stream_that_fails_breaks_off(callers: ExitStack) -> None:
    wire = Wire()
    with toy(wire) as server:
        caller = open_stream(server, callers, "/a")
        wire.is_broken = True
        wire.put("a", b"lost")
        assert caller.is_closed()
        room: Room = server.server.streams
        wait_until(lambda: room.count() == 0)


def fill(wire: Wire, server: Toy) -> None:
    """Sends until the client's buffers and the server's are full."""
    while all(connection.is_writable for connection in server.server.connections):
        before = wire.calls
        wire.put("a", b"x" * BIG)
        wait_until(lambda before=before: wire.calls > before)  # type: ignore[misc]


def test_who_does_not_read_is_not_called_for(callers: ExitStack) -> None:
    wire = Wire()
    with toy(wire) as server:
        caller = open_stream(server, callers, "/a")
        fill(wire, server)
        wait_until(lambda: any(each.current.hold for each in server.server.connections))  # type: ignore[union-attr]
        calls = wire.calls
        for _ in range(5):
            wire.put("a", b"more")
        assert server.exchange(get("/b"))  # whoever is called for now comes behind them
        assert wire.calls == calls + 1
        received = 0
        while received < BIG * (len(wire.sent["a"]) - 5) + 4 * 5:
            received += len(chunk(caller))
        wire.put("a", b"end")
        assert chunk(caller) == b"end"


def test_who_never_reads_is_cut(callers: ExitStack) -> None:
    wire = Wire()
    with toy(wire, stalled=0.2) as server:
        open_stream(server, callers, "/a")
        fill(wire, server)
        wait_until(lambda: wire.room.count() == 0)


def test_a_stopping_server_does_not_wait_for_who_never_reads(callers: ExitStack) -> None:
    wire = Wire()
    with toy(wire) as server:
        open_stream(server, callers, "/a")
        fill(wire, server)
        server.stop()
        server.thread.join(10)
        assert not server.thread.is_alive()


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux has it")
def test_the_system_ends_what_nobody_confirms(callers: ExitStack) -> None:
    wire = Wire()
    with toy(wire, stalled=7.0) as server:
        open_stream(server, callers, "/a")
        (connection,) = server.server.connections
        one = connection._transport.get_extra_info("socket")
        assert one.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 7000


def test_a_server_that_holds_none_says_so_to_the_application() -> None:
    rooms: list[object] = []

    def application(environ: dict[str, Any], start: StartResponse) -> list[bytes]:
        rooms.append(get_streams(environ))
        start("200 OK", [])
        return []

    with toy(application, streams=0) as server:
        server.exchange(get("/"))
    assert rooms == [None]
