"""How responses are written: whole or in parts, as fast as the client takes them."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from tests.front.toy import Gate, get, toy
from tests.waiting import wait_until
from web.asgi import Request

MEGABYTE = 1024 * 1024


class Stream:
    """Responses in pieces; counts what was asked for, and how many were closed."""

    def __init__(self, size: int, *headers: tuple[str, str], status: int = 200) -> None:
        self.size, self.headers, self.status = size, headers, status
        self.made = self.closed = 0
        self.failure: Exception | None = None
        self.threads: set[int] = set()

    def __call__(self, request: Request) -> StreamingHttpResponse:
        self.made = 0
        return StreamingHttpResponse(
            Pieces(self), status=self.status, content_type="text/plain", headers=dict(self.headers)
        )


class Pieces:
    """The body of one response."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def __iter__(self) -> Iterator[bytes]:
        stream = self.stream
        while stream.made < stream.size:
            stream.threads.add(threading.get_ident())
            piece = min(4096, stream.size - stream.made)
            stream.made += piece
            yield b"x" * piece
        if stream.failure:
            raise stream.failure

    def close(self) -> None:
        self.stream.closed += 1


def test_a_short_response_has_a_length() -> None:
    stream = Stream(10_000)
    with toy(stream) as server, server.connect() as caller:
        for number in range(1, 4):
            caller.send(get("/"))
            answer = caller.read()
            assert (answer.headers["content-length"], len(answer.body)) == ("10000", 10_000)
            wait_until(lambda number=number: stream.closed == number)  # type: ignore[misc]


def test_a_long_one_is_sent_in_chunks() -> None:
    stream = Stream(300_000)
    with toy(stream) as server, server.connect() as caller:
        caller.send(get("/", "Connection: close"))
        head, _, body = caller.read_all().partition(b"\r\n\r\n")
        assert b"transfer-encoding: chunked" in head
        assert unchunked(body) == b"x" * 300_000
        wait_until(lambda: stream.closed == 1)


def unchunked(body: bytes) -> bytes:
    found = b""
    while True:
        size, _, body = body.partition(b"\r\n")
        if not int(size, 16):
            assert body == b"\r\n"
            return found
        found, body = found + body[: int(size, 16)], body[int(size, 16) + 2 :]


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_long_one_whose_length_is_known(version: str) -> None:
    with toy(Stream(300_000, ("Content-Length", "300000"))) as server, server.connect() as caller:
        caller.send(f"GET / HTTP/{version}\r\nHost: a\r\n\r\n".encode())
        answer = caller.read()
        assert (len(answer.body), "transfer-encoding" in answer.headers) == (300_000, False)


def test_for_http_1_0_it_has_a_length() -> None:
    with toy(Stream(3_000_000)) as server, server.connect() as caller:
        caller.send(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        answer = caller.read()
        assert ("transfer-encoding" in answer.headers, len(answer.body)) == (False, 3_000_000)
        assert caller.is_closed()


@pytest.mark.parametrize("is_streamed", [True, False])
@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("GET", 304), ("GET", 204)])
def test_a_response_without_a_body(method: str, status: int, is_streamed: bool) -> None:
    stream = Stream(5, status=status)

    def handler(request: Request) -> HttpResponseBase:
        return stream(request) if is_streamed else HttpResponse("12345", status=status)

    with toy(handler) as server, server.connect() as caller:
        for _ in range(2):  # the second would be garbled by a body
            caller.send(get("/").replace(b"GET", method.encode()))
            answer = caller.read(is_head=True)
            length = "5" if (method, is_streamed) == ("HEAD", False) else None
            assert (answer.status, answer.headers.get("content-length")) == (status, length)


def test_a_client_that_takes_nothing_holds_no_thread() -> None:
    stream = Stream(50 * MEGABYTE)
    with toy(stream, threads=1) as server, ExitStack() as stack:
        slow = stack.enter_context(server.connect())
        slow.send(get("/"))
        wait_until(lambda: stalled(stream))
        assert stream.made < 20 * MEGABYTE
        assert server.exchange(get("/healthz")).status == 200
        stream.size = 1000
        assert len(server.exchange(get("/")).body) == 1000  # by the only thread
        slow.socket.close()
        wait_until(lambda: stream.closed == 2)


def stalled(stream: Stream) -> bool:
    """Whether the client's buffers are full."""
    before = stream.made
    threading.Event().wait(0.2)
    return 0 < before == stream.made


def test_a_client_that_takes_nothing_is_cut_off_in_time() -> None:
    stream = Stream(50 * MEGABYTE)
    with toy(stream, stalled=0.5) as server, server.connect() as slow:
        slow.send(get("/"))
        wait_until(lambda: stream.closed == 1)


@pytest.mark.parametrize("given", ["200000", "400000"])
def test_a_length_that_is_wrong_breaks_the_connection(
    given: str,
) -> None:
    stream = Stream(300_000, ("Content-Length", given))
    with toy(stream) as server, server.connect() as caller:
        caller.send(get("/"))
        with pytest.raises((AssertionError, ConnectionResetError)):
            assert len(caller.read().body) == 300_000
        wait_until(lambda: stream.closed == 1)


@pytest.mark.parametrize("failure", [RuntimeError("half of it"), TimeoutError("half of it")])
def test_a_response_that_fails_half_way_breaks_the_connection(
    failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    stream = Stream(300_000)
    stream.failure = failure
    with toy(stream) as server, server.connect() as caller:
        caller.send(get("/"))
        with suppress(ConnectionResetError):
            assert not caller.read_all().endswith(b"0\r\n\r\n")
        wait_until(lambda: stream.closed == 1)
    assert "half of it" in caplog.text
    assert "Expected ASGI message" not in caplog.text


def test_a_response_whose_headers_cannot_be_sent_is_closed() -> None:
    stream = Stream(10)

    def handler(request: Request) -> HttpResponseBase:
        response = stream(request)
        response.set_cookie("price", "5 €")
        return response

    with toy(handler) as server:
        assert server.exchange(get("/")).status == 500
        wait_until(lambda: stream.closed == 1)


def test_an_application_that_fails_is_a_500(capfd: pytest.CaptureFixture[str]) -> None:
    def broken(request: Request) -> HttpResponse:
        raise RuntimeError("broken")

    with toy(broken) as server, server.connect() as caller:
        for _ in range(3):
            caller.send(get("/v1/x"))
            answer = caller.read()
            assert (answer.status, answer.headers["content-type"]) == (500, "application/json")
    assert "RuntimeError: broken" in capfd.readouterr().err


def test_what_is_under_way_is_finished_before_it_stops() -> None:
    gate = Gate()
    with toy(gate, threads=2) as server, ExitStack() as stack:
        idle = stack.enter_context(server.connect())
        held = [stack.enter_context(server.connect()) for _ in range(4)]
        for caller in held:
            caller.send(get("/wait"))
        arriving = stack.enter_context(server.connect())
        arriving.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nha")
        gate.hold(2)
        wait_until(lambda: len(server.connections()) == 6)
        server.stop()
        assert idle.is_closed()
        arriving.send(b"lf")
        gate.opened.set()
        for caller in (*held, arriving):
            assert caller.read().status == 200
            assert caller.is_closed()
        server.thread.join()
