"""What the server reads: the environment of the application, byte for byte."""

import time
from contextlib import suppress

import pytest

from tests.front.toy import Gate, echo, get, settings_of, toy

ENVELOPE = "Accept: application/json"


def test_every_byte_of_a_header_arrives() -> None:
    with toy(echo) as server:
        for raw in ("é".encode(), "é".encode("latin-1")):
            answer = server.exchange(
                b"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + raw
                + b"\r\nCookie: city=" + raw + b"\r\nCookie: sessionid=1\r\n\r\n"
            )  # fmt: skip
            seen = settings_of(answer)
            assert seen["HTTP_AUTHORIZATION"].encode("latin-1") == b"Bearer " + raw
            assert seen["HTTP_COOKIE"].encode("latin-1") == b"city=" + raw + b"; sessionid=1"


def test_the_environment() -> None:
    with toy(echo) as server:
        raw = get("/a%20b/%C3%A9%00?q=%20+1&x", "X-Twice: 1", "x-twice: 2", "Content-Type: a/b")
        seen = settings_of(server.exchange(raw))
    assert seen["PATH_INFO"] == "/a b/é\0"
    assert (seen["QUERY_STRING"], seen["HTTP_X_TWICE"]) == ("q=%20+1&x", "1,2")
    assert (seen["CONTENT_TYPE"], seen["REMOTE_ADDR"]) == ("a/b", "127.0.0.1")
    assert (seen["SERVER_NAME"], seen["SERVER_PORT"]) == ("review.test", "81")
    assert (seen["SERVER_PROTOCOL"], seen["HTTP_HOST"]) == ("HTTP/1.1", "a")
    assert "CONTENT_LENGTH" not in seen


def test_a_name_with_an_underscore_passes_for_no_other_header() -> None:
    with toy(echo) as server:
        seen = settings_of(server.exchange(get("/", "X_Forwarded_For: 1.2.3.4", "X_A-B: 1")))
    assert not {"HTTP_X_FORWARDED_FOR", "HTTP_X_A_B", ""} & seen.keys() - {""}


@pytest.mark.parametrize(
    ("raw", "host"),
    [
        (b"GET / HTTP/1.0\r\n\r\n", None),
        (b"GET / HTTP/1.0\r\nHost: a\r\n\r\n", "a"),
        (b"GET / HTTP/1.1\r\nHost:\r\n\r\n", ""),
        (b"GET http://b/x HTTP/1.1\r\nHost: a\r\n\r\n", "a"),
    ],
)
def test_the_host(raw: bytes, host: str | None) -> None:
    """Without a Host, HTTP/1.0 means the site; the header wins over an absolute address."""
    with toy(echo) as server:
        assert settings_of(server.exchange(raw)).get("HTTP_HOST") == host


@pytest.mark.parametrize("method", ["GET", "HEAD", "QUERY", "PURGE"])
def test_methods_that_http_knows_reach_the_application(method: str) -> None:
    with toy(echo) as server, server.connect() as caller:
        for _ in range(2):
            caller.send(f"{method} /v1/test HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            answer = caller.read(is_head=method == "HEAD")
            assert answer.status == 200
            if method != "HEAD":
                assert settings_of(answer)["REQUEST_METHOD"] == method


def test_bodies_are_complete() -> None:
    with toy(echo) as server, server.connect() as caller:
        caller.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234")
        caller.send(b"56789")
        answer = caller.read()
        assert answer.body.endswith(b"\n0123456789")
        assert settings_of(answer)["CONTENT_LENGTH"] == "10"
        caller.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        caller.send(b"3\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n")
        answer = caller.read()
        assert answer.body.endswith(b"\nabcde")
        assert settings_of(answer)["CONTENT_LENGTH"] == "5"
        assert "HTTP_X_TRAILER" not in settings_of(answer)


def test_who_expects_to_be_told_to_go_on_is_told() -> None:
    with toy(echo) as server, server.connect() as caller:
        caller.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n")
        caller.send(b"Expect: 100-continue\r\n\r\n")
        assert caller.read().status == 100
        caller.send(b"ok")
        assert caller.read().body.endswith(b"\nok")


def test_requests_that_come_at_once_are_answered_in_turn() -> None:
    with toy(echo) as server, server.connect() as caller:
        caller.send(b"".join(get(f"/{number}") for number in range(5)) + b"GET /5 HTT")
        caller.send(b"P/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + get("/6"))
        paths = [settings_of(caller.read())["PATH_INFO"] for _ in range(6)]
        assert paths == [f"/{number}" for number in range(6)]
        assert caller.is_closed()


def test_who_sends_too_many_at_once_gets_the_first_response() -> None:
    gate = Gate()
    with toy(gate) as server, server.connect() as caller:
        caller.send(get("/wait") + b"".join(get(f"/{number}") for number in range(20)))
        gate.hold(1)
        (connection,) = server.connections()
        assert len(connection.pipeline) == 8
        gate.opened.set()
        assert settings_of(caller.read())["PATH_INFO"] == "/wait"
        assert caller.is_closed()


def test_what_is_no_http_does_not_answer_the_request_before_it() -> None:
    gate = Gate()
    with toy(gate) as server, server.connect() as caller:
        caller.send(get("/wait") + b"\x00\x00\r\n\r\n")
        gate.hold(1)
        gate.opened.set()
        assert settings_of(caller.read())["PATH_INFO"] == "/wait"
        assert caller.is_closed()


def test_an_upgrade_is_an_ordinary_request() -> None:
    with toy(echo) as server:
        raw = get("/x", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: A")
        assert settings_of(server.exchange(raw))["PATH_INFO"] == "/x"


@pytest.mark.parametrize("protocol", ["h2c", "websocket"])
@pytest.mark.parametrize("is_whole", [True, False])
def test_the_body_behind_an_upgrade_arrives(protocol: str, is_whole: bool) -> None:
    """Java's client asks for HTTP/2 in every call over plain HTTP."""
    head = f"POST /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: {protocol}\r\n".encode()
    length, chunks = b"Content-Length: 5\r\n\r\n", CHUNKED + b"\r\n\r\n"
    with toy(echo) as server, server.connect() as caller:
        for rest, body in ((length, b"hello"), (chunks, b"5\r\nhello\r\n0\r\n\r\n")):
            if is_whole:
                caller.send(head + rest + body + get("/next"))
            else:
                caller.send(head[:50])
                caller.send(head[50:] + rest)
                for byte in body:
                    caller.send(bytes([byte]))
                caller.send(get("/next"))
            answer = caller.read()
            assert answer.body.endswith(b"\nhello")
            assert "HTTP_UPGRADE" not in settings_of(answer)
            assert settings_of(caller.read())["PATH_INFO"] == "/next"


MALFORMED = {
    "no Host": b"GET /v1/a HTTP/1.1\r\n\r\n",
    "two Hosts": b"GET /v1/a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "a byte beyond ASCII in the path": b"GET /v1/\xff HTTP/1.1\r\nHost: a\r\n\r\n",
    "a control character in the path": b"GET /v1/\x01 HTTP/1.1\r\nHost: a\r\n\r\n",
    "a NUL in a header": b"GET /v1/a HTTP/1.1\r\nHost: a\r\nX: \x00\r\n\r\n",
    "a space before the colon": b"GET /v1/a HTTP/1.1\r\nHost: a\r\nX : 1\r\n\r\n",
    "a folded header": b"GET /v1/a HTTP/1.1\r\nHost: a\r\n X: 1\r\n\r\n",
    "a length and chunks": b"POST /v1/a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": b"POST /v1/a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2"
    b"\r\n\r\nab",
    "chunks in HTTP/1.0": b"POST /v1/a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a broken chunk": b"POST /v1/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "another version": b"GET /v1/a HTTP/2.0\r\nHost: a\r\n\r\n",
    "no path": b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
}


@pytest.mark.parametrize("raw", MALFORMED.values(), ids=MALFORMED.keys())
def test_what_is_not_http_is_refused(raw: bytes) -> None:
    with toy(echo) as server, server.connect() as caller:
        caller.send(raw + get("/next"))
        answer = caller.read()
        assert answer.status == 400
        assert answer.headers["connection"] == "close"
        assert caller.is_closed()


@pytest.mark.parametrize("method", ["FOO", "foo", "X-Y", "G@T"])
def test_a_method_that_http_does_not_know_is_refused(method: str) -> None:
    with toy(echo) as server:
        assert server.exchange(f"{method} /v1/a HTTP/1.1\r\nHost: a\r\n\r\n".encode()).status == 400


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/" + "a" * 300_000, []),
        ("/x", [f"X-{number}: y" for number in range(120)]),
        ("/x", ["X: " + "y" * 500_000]),
    ],
)
def test_a_head_that_is_too_large(path: str, headers: list[str]) -> None:
    with toy(echo) as server, server.connect() as caller:
        with suppress(ConnectionError):
            caller.send(get(path, *headers))
        with suppress(ConnectionError):
            assert caller.read_all()[:12] in (b"HTTP/1.1 400", b"")


def test_a_head_without_end() -> None:
    head = b"GET / HTTP/1.1\r\nX: " + b"x" * 10_000_000
    with toy(echo) as server, server.connect() as caller, pytest.raises(ConnectionError):
        caller.send(head)


def test_trailers_without_end() -> None:
    with toy(echo) as server, server.connect() as caller:
        caller.send(b"POST /v1/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        caller.send(b"1\r\nx\r\n" * 20_000)  # the smallest chunks are no trailers
        with suppress(ConnectionError):
            caller.send(b"0\r\nX: " + b"y" * 300_000)
        with suppress(ConnectionError):
            assert caller.read_all()[:12] in (b"HTTP/1.1 400", b"")


def test_a_body_that_is_too_large() -> None:
    """A page refuses it; the API gets enough of it to say so after its other checks."""
    with toy(echo) as server:
        head = b"POST %b HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n"
        chunked = head.replace(b"Content-Length: 9000000", CHUNKED)
        for raw, status in (
            (head % b"/page", 413),
            (head % b"/v1/x", 200),
            (chunked % b"/v1/x", 200),
        ):
            data = b"1000000\r\n" if CHUNKED in raw else b""
            with server.connect() as caller:
                caller.send(raw + data + b"x" * 1_400_000)
                answer = caller.read()
                assert (answer.status, answer.headers["connection"]) == (status, "close")
                if status == 200:
                    assert int(settings_of(answer)["CONTENT_LENGTH"]) > 1024 * 1024
                for _ in range(3):  # is still taken, so that the response arrives
                    caller.send(b"x" * 100_000)
                    time.sleep(0.02)
                assert caller.is_closed()


CHUNKED = b"Transfer-Encoding: chunked"
