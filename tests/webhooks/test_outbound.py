"""One POST to hostile receivers: real servers on loopback."""

import contextlib
import gzip
import ipaddress
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import stretched
from tests.webhooks.receivers import Receiver, Reply, dead_url, misbehaving, receiving
from webhooks import outbound
from webhooks.outbound import Refused, Response, Unreachable

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
TLS = outbound.tls_context()
Behaviour = Callable[[socket.socket, threading.Event], None]


def post(url: str, seconds: float = 5, headers: Mapping[str, str] | None = None) -> Response:
    return outbound.post(
        url, body=b'{"n":1}', headers=headers or {}, seconds=seconds, opened=LOOPBACK, tls=TLS
    )


def post_to(behave: Behaviour, seconds: float = 5) -> Response:
    with misbehaving(behave) as port:
        return post(f"http://127.0.0.1:{port}/", seconds)


def test_names_that_nobody_answers_hold_up_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look-up goes on for some time after the attempt that wanted it has given up."""
    is_over, look_up = threading.Event(), socket.getaddrinfo

    def answer_none_of_the_dead(host: str, *args: Any, **options: Any) -> Any:
        if host.startswith("dead"):
            is_over.wait(60)
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return look_up("127.0.0.1", *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", answer_none_of_the_dead)
    try:
        for number in range(60):
            with pytest.raises(Unreachable):
                post(f"http://dead{number}.example/", seconds=0.01)
        with receiving() as receiver:
            assert post(f"http://receiver.example:{receiver.port}/").status == 204
    finally:
        is_over.set()


@contextlib.contextmanager
def cut_after(seconds: float) -> Iterator[None]:
    """Ends in Unreachable when the time is over, and not much later."""
    begun = time.monotonic()
    with pytest.raises(Unreachable, match=rf"^No complete response within {seconds:g} s\.$"):
        yield
    assert seconds - 0.05 <= time.monotonic() - begun < seconds + stretched(3)


def drip(head: bytes, part: bytes) -> Behaviour:
    """Sends `head`, and then `part` every 20 ms for as long as it may."""

    def behave(peer: socket.socket, over: threading.Event) -> None:
        peer.sendall(head)
        while not over.wait(0.02):
            peer.sendall(part)

    return behave


def test_what_is_sent(receiver: Receiver) -> None:
    answer = post(receiver.url, headers={"Content-Type": "application/json", "webhook-id": "a"})
    assert (answer.status, answer.body) == (204, b"")
    (got,) = receiver.got
    assert got.body == b'{"n":1}'
    assert dict(got.headers) == {
        "host": f"127.0.0.1:{receiver.port}",
        "user-agent": "ReviewLoop-Webhooks/1",
        "accept-encoding": "identity",
        "connection": "close",
        "content-length": "7",
        "content-type": "application/json",
        "webhook-id": "a",
    }


def test_the_answer_comes_back_whatever_its_status(receiver: Receiver) -> None:
    for status in (200, 204, 301, 404, 410, 429, 500, 599):
        receiver.respond = lambda _, status=status: Reply(status, {"X-Is": "1"}, b"")  # type: ignore[misc]
        answer = post(receiver.url)
        assert (answer.status, answer.headers["x-is"]) == (status, "1")


def test_header_names_are_found_in_any_case(receiver: Receiver) -> None:
    receiver.respond = lambda _: Reply(503, {"Retry-After": "7"})
    headers = post(receiver.url).headers
    assert headers["retry-after"] == headers["Retry-After"] == "7"


def test_one_that_never_answers() -> None:
    with cut_after(0.5):
        post_to(lambda _, over: void(over.wait(10)), 0.5)


def test_one_that_never_accepts() -> None:
    with (
        socket.create_server(("127.0.0.1", 0), backlog=0) as server,
        contextlib.ExitStack() as full,
    ):
        for _ in range(4):  # the queue of the listener is full: the next SYN is not answered
            waiting = full.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        with pytest.raises(Unreachable):
            post(f"http://127.0.0.1:{server.getsockname()[1]}/", 0.5)


@pytest.mark.parametrize(
    ("head", "part"),
    [
        (b"", b"H"),
        (b"HTTP/1.1 200 OK\r\n", b"X"),
        (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x"),
        (b"HTTP/1.1 103 Early Hints\r\n", b"X: y\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0"),
    ],
    ids=["status", "header", "value", "interim", "body", "endless", "chunks", "chunk-size"],
)
def test_one_that_drips(head: bytes, part: bytes) -> None:
    """Every byte would restart a time-out per read; this one is of the wall clock."""
    with cut_after(0.4):
        post_to(drip(head, part), 0.4)


def test_one_that_takes_no_bytes() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, cut_after(0.4):
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        outbound.post(
            url, body=bytes(30_000_000), headers={}, seconds=0.4, opened=LOOPBACK, tls=TLS
        )


def test_one_that_has_heard_enough() -> None:
    """It responds before the body has arrived, and closes."""

    def respond(server: socket.socket) -> None:
        with server.accept()[0] as peer:
            peer.recv(1_000)
            peer.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=respond, args=[server])
        thread.start()
        response = outbound.post(
            f"http://127.0.0.1:{server.getsockname()[1]}/",
            body=bytes(30_000_000), headers={}, seconds=5, opened=LOOPBACK, tls=TLS,
        )  # fmt: skip
        thread.join()
    assert response.status == 413


def test_one_that_sends_a_gigabyte() -> None:
    sent = []

    def behave(peer: socket.socket, over: threading.Event) -> None:
        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
        for _ in range(1024):
            peer.sendall(bytes(1 << 20))
            sent.append(1 << 20)

    answer = post_to(behave)
    assert answer.status == 200
    assert len(answer.body) == 16 * 1024
    assert sum(sent) < 64 << 20  # what the buffers of the kernel hold


def test_a_gzip_bomb_stays_packed(receiver: Receiver) -> None:
    bomb = gzip.compress(bytes(10_000_000))
    assert len(bomb) < 16 * 1024
    receiver.respond = lambda _: Reply(200, {"Content-Encoding": "gzip"}, bomb)
    assert post(receiver.url).body == bomb


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(100_000)),
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 10_000_000,
        b"HTTP/1.1 200 " + b"y" * 10_000_000,
    ],
    ids=["many", "long", "reason"],
)
def test_a_flood_of_headers_is_no_answer(head: bytes) -> None:
    with pytest.raises(Unreachable):
        post_to(lambda peer, _: peer.sendall(head + b"\r\n\r\n"))


def test_headers_are_kept_up_to_16_kib() -> None:
    lines = b"".join(b"X-%d: %s\r\n" % (n, b"y" * 60_000) for n in range(15))
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nRetry-After: 9\r\n" + lines

    answer = post_to(lambda peer, _: peer.sendall(head + b"\r\nok"))
    assert answer.body == b"ok"
    assert answer.headers["retry-after"] == "9"
    assert sum(len(name) + len(value) for name, value in answer.headers.items()) <= 16 * 1024


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00\x01\x02\r\n\r\n",
     b"hello\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/9 2 OK\r\n\r\n",
     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
     b"SSH-2.0-OpenSSH_9\r\n", "HTTP/1.1 ٢٠٠ OK\r\n\r\n".encode()],
)  # fmt: skip
def test_what_is_no_answer_is_unreachable_and_can_be_stored(data: bytes) -> None:
    with pytest.raises(Unreachable) as raised:
        post_to(lambda peer, _: peer.sendall(data))
    assert "\x00" not in str(raised.value)
    assert str(raised.value).encode()


def test_one_that_resets() -> None:
    def behave(peer: socket.socket, over: threading.Event) -> None:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with pytest.raises(Unreachable, match="ConnectionResetError"):
        post_to(behave)


def test_one_that_is_not_there() -> None:
    with pytest.raises(Unreachable, match="Connection refused"):
        post(dead_url())


def test_a_redirect_is_an_answer_and_nothing_more(receiver: Receiver) -> None:
    with receiving() as metadata:
        for status in (301, 302, 303, 307, 308):
            for target in ("http://169.254.169.254/latest/", metadata.url):
                receiver.respond = lambda _, s=status, t=target: Reply(s, {"Location": t})  # type: ignore[misc]
                assert post(receiver.url).status == status
        assert metadata.got == []
    assert len(receiver.got) == 10


def test_nothing_comes_from_the_environment(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    with receiving() as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
            monkeypatch.setenv(name.lower(), f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("NETRC", str(netrc))
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nonexistent")
        assert post(receiver.url).status == 204
        assert proxy.got == []
    assert "authorization" not in receiver.got[0].headers


def test_cookies_are_not_kept(receiver: Receiver) -> None:
    receiver.respond = lambda _: Reply(204, {"Set-Cookie": "a=b; Path=/"})
    post(receiver.url)
    post(receiver.url)
    assert not any("cookie" in got.headers for got in receiver.got)


def test_the_second_address_is_tried_where_the_first_is_dead(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, receiver.port))
        for host in ("127.0.0.2", "127.0.0.1")
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answers)
    # the socket guard of the tests knows 127.0.0.1 alone
    monkeypatch.setattr(socket.socket, "connect", connect_plainly)
    assert post(f"http://two.example:{receiver.port}/x").status == 204
    assert receiver.got[0].headers["host"] == f"two.example:{receiver.port}"


def connect_plainly(connection: socket.socket, address: tuple[str, int]) -> None:
    super(socket.socket, connection).connect(address)


def test_a_name_that_is_never_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: over.wait(10))
    try:
        with pytest.raises(Unreachable, match=r"^The name was not resolved in time\.$"):
            post("http://slow.example/", 0.3)
    finally:
        over.set()


def test_a_refused_address_costs_no_wait() -> None:
    with pytest.raises(Refused):
        post("http://10.0.0.1/")


def test_the_password_of_a_url_is_sent_as_basic_authentication(receiver: Receiver) -> None:
    post(f"http://user:s3cret@127.0.0.1:{receiver.port}/x")
    assert receiver.got[0].headers["authorization"] == "Basic dXNlcjpzM2NyZXQ="


def test_a_failure_quotes_no_password() -> None:
    with pytest.raises(Unreachable, match=r"Failed to parse: http://\*\*\*@host\.example:99999/x$"):
        post("http://user:s3cret@host.example:99999/x")


def void(_: object) -> None: ...
