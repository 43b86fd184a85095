"""Clients that are slow, silent or many: they cost no thread, and end in time."""

import json
import socket
import threading
import time
from contextlib import ExitStack
from typing import Any

import pytest
from django.http import HttpResponse

from tests.front.toy import Caller, Gate, echo, get, toy
from tests.waiting import wait_until
from web.asgi import Request

HEAD = b"POST %b HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"
QUICK: dict[str, Any] = {"head_seconds": 0.5, "body_seconds": 0.5, "linger": 0.2}


def never_heard_of(request: Request) -> HttpResponse:
    raise AssertionError("an incomplete request reached the application")


@pytest.mark.parametrize("sent", [HEAD % b"/v1/x", HEAD % b"/v1/x" + b"half of it"])
def test_who_stops_sending_a_body_is_told_in_time(sent: bytes) -> None:
    limits = {**QUICK, "head_seconds": 60.0}
    with toy(never_heard_of, **limits) as server, server.connect() as caller:
        caller.send(sent)
        answer = caller.read()
        assert (answer.status, answer.headers["connection"]) == (408, "close")
        assert json.loads(answer.body) == {
            "error": True,
            "msg": "Request timeout",
            "data": "The body took too long to arrive.",
        }
        assert caller.is_closed()


@pytest.mark.parametrize("sent", [b"GET /v1/x HTTP/1.1\r\nHost: a\r\n", b"GET /v1/x"])
def test_who_stops_sending_a_head_is_told_in_time(sent: bytes) -> None:
    limits = {**QUICK, "body_seconds": 60.0}
    with toy(never_heard_of, **limits) as server, server.connect() as caller:
        caller.send(sent)
        assert caller.read().status == 400
        assert caller.is_closed()


def test_a_head_that_comes_byte_by_byte_ends_in_time() -> None:
    with toy(never_heard_of, **QUICK) as server, server.connect() as caller:
        caller.send(b"GET /v1/x HTTP/1.1\r\nX: ")
        assert trickle(caller) == 400


@pytest.mark.parametrize("part", [20, 60], ids=["head", "body"])
@pytest.mark.parametrize("phase", ["callback", "reader"])
def test_what_came_while_the_server_did_not_run_came_in_time(part: int, phase: str) -> None:
    """A process that was stopped (SIGSTOP, a busy machine) finds its deadlines over.

    A reader runs between what has come and the timers: nothing else is read before them.
    """
    raw = HEAD % b"/v1/x" + b"1" * 1000
    stopped, goes_on = threading.Event(), threading.Event()
    ours, theirs = socket.socketpair()

    def stop() -> None:
        server.app.loop.remove_reader(theirs)
        stopped.set()
        goes_on.wait(10)

    with ours, theirs, toy(echo, **QUICK) as server, server.connect() as caller:
        caller.send(raw[:part])
        wait_until(lambda: any(each.is_reading for each in server.connections()), 10)
        if phase == "callback":
            server.app.loop.call_soon_threadsafe(stop)
        else:
            server.app.loop.call_soon_threadsafe(server.app.loop.add_reader, theirs, stop)
            ours.send(b"now")
        assert stopped.wait(10)
        caller.send(raw[part:])
        over = time.monotonic() + 0.6
        wait_until(lambda: time.monotonic() > over, 10)
        goes_on.set()
        assert caller.read().status == 200


def test_a_browser_gets_plain_text() -> None:
    with toy(never_heard_of, **QUICK) as server:
        answer = server.exchange(HEAD % b"/inbox/")
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.body == b"Request timeout. The body took too long to arrive.\n"


def test_who_sends_nothing_is_hung_up_on_without_a_word() -> None:
    """Browsers open connections that they may use later."""
    with toy(echo, **QUICK) as server, server.connect() as caller:
        assert caller.is_closed()


@pytest.mark.parametrize("sent", [b"\r\n", b"\r\n\r\nGET"])
def test_who_sends_blank_lines_behind_a_request_is_hung_up_on(sent: bytes) -> None:
    with toy(echo, **QUICK) as server:
        server.server.config.timeout_keep_alive = 1
        with server.connect() as caller:
            caller.send(get("/"))
            assert caller.read().status == 200
            caller.send(sent)
            assert b"HTTP/1.1 2" not in caller.read_all()


@pytest.mark.parametrize("method", [b"GET", b"POST"])
def test_what_a_probe_carries_keeps_no_connection(method: bytes) -> None:
    with toy(echo, **QUICK) as server, server.connect() as caller:
        caller.send(HEAD.replace(b"POST", method) % b"/healthz" + b"x")
        answer = caller.read()
        assert answer.status == (200 if method == b"GET" else 405)
        assert answer.headers["connection"] == "close"
        assert caller.is_closed()


def test_a_trickle_is_too_slow_and_a_slow_stream_is_not() -> None:
    """Every `body_rate` bytes earn a second."""
    with toy(echo, body_rate=1000, **QUICK) as server:
        with server.connect() as caller:
            caller.send(HEAD.replace(b"1000", b"3000") % b"/v1/slow")
            for _ in range(30):
                caller.send(b"x" * 100)
                time.sleep(0.05)  # half of what they earn
            assert caller.read().body.endswith(b"\n" + b"x" * 3000)
        with server.connect() as caller:
            caller.send(HEAD % b"/v1/trickle")
            assert trickle(caller) == 408


def trickle(caller: Caller) -> int:
    """Sends a byte now and then until there is a response; returns its status."""
    caller.socket.settimeout(0.1)
    while True:
        caller.send(b"x")
        try:
            return caller.read().status
        except TimeoutError:
            continue


def test_no_body_may_take_longer_than_the_longest() -> None:
    with toy(echo, body_rate=1, body_longest=0.5, **QUICK) as server, server.connect() as caller:
        caller.send(HEAD % b"/v1/x" + b"x" * 999)
        assert caller.read().status == 408


def test_hundreds_of_slow_clients_hold_no_thread() -> None:
    with toy(echo, threads=1) as server, ExitStack() as stack:
        for number in range(300):
            caller = stack.enter_context(server.connect())
            caller.send((HEAD % b"/v1/x", b"GET / HTTP/1.1\r\n", b"")[number % 3])
        wait_until(lambda: len(server.connections()) == 300)
        with server.connect() as caller:
            for _ in range(20):
                caller.send(get("/"))
                assert caller.read().status == 200


def test_the_room_for_bodies_is_limited_but_small_ones_always_fit() -> None:
    limits = {"bodies": 2000, "free": 500}
    with toy(echo, **limits) as server, ExitStack() as stack:
        holders = [stack.enter_context(server.connect()) for _ in range(4)]
        for holder in holders:
            holder.send(HEAD % b"/v1/x" + b"x" * 999)
        wait_until(lambda: server.app.held == 4 * 499)
        answer = server.exchange(HEAD % b"/v1/x" + b"x" * 999)
        assert (answer.status, json.loads(answer.body)["msg"]) == (
            503,
            "Server too busy",
        )
        small = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n" + b"x" * 500
        assert server.exchange(small).status == 200
        holders[0].send(b"x")
        assert holders[0].read().status == 200
        holders[1].socket.close()
        wait_until(lambda: server.app.held == 2 * 499)
        assert server.exchange(HEAD % b"/v1/x" + b"x" * 1000).status == 200
    assert server.app.held == 0


def test_who_waits_longest_makes_room_for_others() -> None:
    with toy(echo, connections=16) as server, ExitStack() as stack:
        first = stack.enter_context(server.connect())
        wait_until(lambda: len(server.connections()) == 1)
        time.sleep(0.05)  # the clock of the loop has milliseconds
        for _ in range(15):
            stack.enter_context(server.connect())
        wait_until(lambda: len(server.connections()) == 16)
        assert server.exchange(get("/")).status == 200
        assert first.is_closed()


def test_probes_are_answered_while_all_threads_are_busy() -> None:
    gate = Gate()
    with toy(gate, threads=2) as server, ExitStack() as stack:
        held = [stack.enter_context(server.connect()) for _ in range(4)]
        for caller in held:
            caller.send(get("/wait"))
        gate.hold(2)
        for _ in range(3):
            answer = server.exchange(get("/healthz"))
            assert (answer.status, answer.body) == (200, b'{"status": "ok"}')
            assert server.exchange(get("/readyz")).body.startswith(b"PATH_INFO=/readyz\n")
        assert server.exchange(b"HEAD /healthz HTTP/1.0\r\n\r\n".replace(b"HEAD", b"GET")).status
        assert server.exchange(get("/readyz").replace(b"GET", b"POST")).status == 405
        gate.opened.set()
        assert {caller.read().status for caller in held} == {200}
    assert gate.ended == 4
    assert len(gate.threads) == 3  # two, and that of /readyz


def test_a_check_that_hangs_is_answered_in_time() -> None:
    gate = Gate()

    def application(request: Request) -> HttpResponse:
        request.path = "/wait"
        return gate(request)

    with toy(application, readiness=0.3) as server:
        for _ in range(2):
            answer = server.exchange(get("/readyz"))
            assert (answer.status, json.loads(answer.body)["status"]) == (503, "unavailable")
        assert gate.waiting == 1  # those that wait share one check
        gate.opened.set()
        wait_until(lambda: gate.ended == 1)
        assert server.exchange(get("/readyz")).status == 200


@pytest.mark.parametrize("ahead", [b"", get("/next")])
def test_a_request_is_not_begun_for_a_client_that_has_gone(ahead: bytes) -> None:
    """uvicorn tells the last of the requests of a connection alone."""
    gate = Gate()
    with toy(gate, threads=1) as server, server.connect() as first:
        first.send(get("/wait"))
        gate.hold(1)
        with server.connect() as second:
            second.send(get("/wait") + ahead)
            wait_until(lambda: sum(bool(each.running) for each in server.connections()) == 2)
        wait_until(lambda: len(server.connections()) == 1)
        gate.opened.set()
        assert first.read().status == 200
        assert server.exchange(get("/")).status == 200
    assert gate.ended == 1


def test_the_room_of_a_client_that_has_gone_is_free_again() -> None:
    gate = Gate()
    with toy(gate, threads=1, free=0) as server, server.connect() as caller:
        caller.send(HEAD % b"/wait" + b"x" * 1000)
        gate.hold(1)
        assert server.app.held == 1000
        caller.socket.close()
        gate.opened.set()
        wait_until(lambda: server.app.held == 0)
    assert server.app.held == 0
