"""A stream sends its parts when there is something to send, and holds no thread meanwhile."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest
from django.http import HttpResponse

from tests.front.toy import Caller, Toy, deferred_of, get, toy
from tests.waiting import wait_until
from web.asgi import Request
from web.waiting import WaitingList, get_resumed

BIG = 1024 * 1024


@dataclass
class Wire:
    """An application whose streams send what is on the wire of their topic."""

    beat: float = 30.0
    sent: dict[str, list[bytes]] = field(default_factory=dict)
    calls: int = 0
    places: WaitingList = field(default_factory=lambda: WaitingList(0, 0))
    is_broken: bool = False

    def __call__(self, request: Request) -> HttpResponse:
        self.calls += 1
        deferred = deferred_of(request)
        self.places = deferred.streams
        topic, _, group = request.path.strip("/").partition("/")
        waiter = get_resumed(request.META)
        waiter = waiter or deferred.take(deferred.streams, topic, group, self.beat)
        if waiter is None:
            return HttpResponse("full", status=429)
        if self.is_broken:
            raise RuntimeError("as the test wants it")
        lines = self.sent.get(topic, [])
        seen = waiter.state or 0
        waiter.state = len(lines)
        waiter.renew(self.beat)
        if not (waiter.remaining == 0 or lines[-1:] == [b"end"]):
            deferred.keep_open()
        content = b"".join(lines[seen:]) or b"."
        return HttpResponse(content, content_type="text/plain", headers={"X-Call": str(self.calls)})

    def put(self, topic: str, line: bytes) -> None:
        self.sent.setdefault(topic, []).append(line)
        self.places.wake(topic)


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
        assert server.app.streams.count() == 100


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


def test_there_is_room_for_so_many(callers: ExitStack) -> None:
    wire = Wire()
    with toy(wire, streams=3, streams_of_one=2) as server:
        for _ in range(2):
            open_stream(server, callers, "/a/anna")
        assert server.exchange(get("/a/anna")).status == 429
        assert not server.app.streams.is_full
        open_stream(server, callers, "/a/ben")
        assert server.app.streams.is_full
        assert server.exchange(get("/a/carla")).status == 429
        assert server.app.waiting.count() == 0  # calls that wait have seats of their own
        callers.close()
        wait_until(lambda: server.app.streams.count() == 0)


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
        wait_until(lambda: server.app.streams.count() == 0)


def fill(wire: Wire, server: Toy) -> None:
    """Sends until the client's buffers and the server's are full."""
    while not any(connection.flow.write_paused for connection in server.connections()):
        before = wire.calls
        wire.put("a", b"x" * BIG)
        wait_until(lambda before=before: wire.calls > before)  # type: ignore[misc]


def test_who_does_not_read_is_not_called_for(callers: ExitStack) -> None:
    wire = Wire()
    with toy(wire) as server:
        caller = open_stream(server, callers, "/a")
        fill(wire, server)
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
        wait_until(lambda: server.app.streams.count() == 0)


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux has it")
def test_the_system_ends_what_nobody_confirms(callers: ExitStack) -> None:
    wire = Wire()
    with toy(wire, stalled=7.0) as server:
        open_stream(server, callers, "/a")
        (connection,) = server.connections()
        one = connection.transport.get_extra_info("socket")
        assert one.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 7000


def test_a_server_that_holds_none_says_so_to_the_application() -> None:
    places: list[bool] = []

    def handler(request: Request) -> HttpResponse:
        places.append(deferred_of(request).has_streams)
        return HttpResponse()

    with toy(handler, streams=0) as server:
        server.exchange(get("/"))
    with toy(handler) as server:
        server.exchange(get("/"))
        server.exchange(b"GET / HTTP/1.0\r\n\r\n")
    assert places == [False, True, False]


def test_who_leaves_with_requests_sent_ahead_gives_its_place_back(callers: ExitStack) -> None:
    """uvicorn tells the last of the requests of a connection alone that the client is gone."""
    wire = Wire()
    with toy(wire) as server:
        caller = open_stream(server, callers, "/a")
        caller.send(get("/b") + get("/c"))
        wait_until(lambda: any(connection.pipeline for connection in server.connections()))
        callers.close()
        wait_until(lambda: server.app.streams.count() == 0)
        assert wire.calls == 1
