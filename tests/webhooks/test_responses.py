"""What counts as the final response, and as a whole one. Raw sockets on loopback."""

import gzip
import io
from http.client import HTTPException

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.webhooks.test_outbound import post_to
from webhooks.outbound import Response, Unreachable
from webhooks.responses import MAX_INTERIM, FinalResponse

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"
PROCESSING = b"HTTP/1.1 102 Processing\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def answer_to(data: bytes) -> Response:
    """The response to a POST that is answered with these bytes, and the end of the connection."""
    return post_to(lambda peer, _: peer.sendall(data))


@pytest.mark.parametrize(
    "interim",
    [CONTINUE, PROCESSING, HINTS, b"HTTP/1.1 199 Whatever\r\n\r\n", b"HTTP/1.1 103\r\n\r\n"],
)
@pytest.mark.parametrize("times", [1, 3, MAX_INTERIM])
def test_interim_responses_are_skipped(interim: bytes, times: int) -> None:
    answer = answer_to(interim * times + OK)
    assert (answer.status, answer.body, answer.headers.get("link")) == (200, b"ok", None)


def test_interim_responses_of_all_kinds_before_a_failure() -> None:
    failure = b"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"
    answer = answer_to(CONTINUE + PROCESSING + HINTS + failure)
    assert (answer.status, answer.headers["retry-after"]) == (503, "7")


@pytest.mark.parametrize("interim", [CONTINUE, PROCESSING, HINTS])
def test_a_flood_of_interim_responses_is_no_answer(interim: bytes) -> None:
    with pytest.raises(Unreachable, match="More than 16 interim responses"):
        answer_to(interim * (MAX_INTERIM + 1) + OK)


@pytest.mark.parametrize("data", [HINTS, HINTS[:-2], CONTINUE + b"HTTP/1.1 2", PROCESSING[:12]])
def test_an_end_after_an_interim_response_is_no_answer(data: bytes) -> None:
    with pytest.raises(Unreachable):
        answer_to(data)


@pytest.mark.parametrize("line", [b"A: 1\r", b"A: 1\rB: 2", b"0:\r1:\r" * 8000, b"\r"])
def test_a_carriage_return_inside_a_line_is_no_answer(line: bytes) -> None:
    """The parser behind ends a line there: one line would be thousands of headers."""
    with pytest.raises(Unreachable, match="carriage return inside a line"):
        answer_to(b"HTTP/1.1 200 OK\r\n" + line + b"\r\n\r\n")


def test_a_head_that_takes_much_memory_is_no_answer() -> None:
    line = b"A: " + b"x" * 60_000 + b"\r\n"
    assert answer_to(b"HTTP/1.1 200 OK\r\n" + line * 17 + b"\r\n").status == 200
    with pytest.raises(Unreachable, match="too many headers"):
        answer_to(b"HTTP/1.1 200 OK\r\n" + line * 18 + b"\r\n")


def test_switching_protocols_is_final_and_no_success() -> None:
    answer = answer_to(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n" + OK)
    assert (answer.status, answer.body) == (101, b"")


@pytest.mark.parametrize("count", [99, 100, 101, 150, 900])
def test_many_headers_are_an_answer(count: int) -> None:
    lines = b"".join(b"X-%d: %d\r\n" % (n, n) for n in range(count))
    head = b"HTTP/1.1 200 OK\r\n" + lines + b"Content-Length: 2\r\n\r\n"
    answer = answer_to(HINTS + head + b"ok")
    assert (answer.status, answer.body) == (200, b"ok")
    assert answer.headers["x-98"] == "98"
    assert answer.headers["content-length"] == "2"


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
        b"HTTP/1.1 201 Created\r\nContent-Length: 20000\r\n\r\n" + bytes(16 * 1024 - 1),
        CHUNKED,
        CHUNKED + b"5\r\nsh",
        CHUNKED + b"5\r\nshort\r\n",
        CHUNKED + b"5\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\n",
    ],
)
def test_a_success_that_breaks_off_is_none(data: bytes) -> None:
    with pytest.raises(Unreachable, match="broke off"):
        answer_to(data)


@pytest.mark.parametrize("status", [302, 410, 429, 503])
@pytest.mark.parametrize(
    "rest",
    [
        b"Content-Length: 10\r\n\r\nshort",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nsh",
        b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_the_status_of_a_failure_counts_however_it_ends(status: int, rest: bytes) -> None:
    answer = answer_to(b"HTTP/1.1 %d X\r\nRetry-After: 9\r\n" % status + rest)
    assert (answer.status, answer.headers["retry-after"]) == (status, "9")


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\nall of it", b"all of it"),
        (b"HTTP/1.0 200 OK\r\n\r\n", b""),
        (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", b"ok"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more", b"ok"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n" + bytes(16 * 1024), bytes(16 * 1024)),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 10\r\n\r\n", b""),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n\x00\xffzip",
         b"\x00\xffzip"),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"x", mtime=0)[:9],
         gzip.compress(b"x", mtime=0)[:9]),
        (CHUNKED + b"2\r\nok\r\n0\r\n\r\n", b"ok"),
        (CHUNKED + b"2\r\nok\r\n0\r\n", b"ok"),  # every byte of the body is there
    ],
)  # fmt: skip
def test_whole_successes(data: bytes, body: bytes) -> None:
    answer = answer_to(data)
    assert 200 <= answer.status < 300
    assert answer.body == body


@pytest.mark.parametrize(
    "data", [b"ok", b"<html>ok</html>\r\n\r\n", b"\r\n\r\n", b"200 OK\r\n\r\n"]
)
def test_an_answer_of_http_0_9_is_none(data: bytes) -> None:
    with pytest.raises(Unreachable):
        answer_to(data)


class Peer:
    """A socket whose other end has sent these bytes, and closed."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def makefile(self, mode: str) -> io.BytesIO:
        return io.BytesIO(self.data)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_head_or_none(data: bytes) -> None:
    """Nothing else is raised, and what is left of the stream is what followed the head."""
    for begin in (b"", b"HTTP/1.1 200 OK\r\n"):
        response = FinalResponse(Peer(begin + data))  # type: ignore[arg-type]
        try:
            response.begin()
        except HTTPException:
            continue
        assert response.status >= 200 or response.status == 101
        assert (begin + data).endswith(response.fp.read())
