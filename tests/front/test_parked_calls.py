"""A request whose answer comes later holds a seat and no thread."""

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from wsgiref.types import StartResponse

import pytest

from front.parked_calls import Room
from tests.front.toy import Caller, Toy, get, toy
from tests.waiting import wait_until
from web.late_answers import get_resumed, get_room, keep


@dataclass
class Board:
    """An application that answers /{topic} once the topic is on the board, or its time is over."""

    seconds: float = 30.0
    up: set[str] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)
    room: Any = None
    between: threading.Event | None = None  # set: the test comes between the look and the answer

    def __call__(self, environ: dict[str, Any], start: StartResponse) -> list[bytes]:
        topic, _, group = environ["PATH_INFO"].strip("/").partition("/")
        self.calls.append(topic)
        self.room = get_room(environ)
        seat = get_resumed(environ) or self.room.take(topic, group, self.seconds)
        is_up = topic in self.up
        if self.between is not None:
            self.between.wait(10)
        if seat is None:
            word = "full"
        elif not is_up and seat.remaining > 0:
            keep(environ, seat)
            word = "dropped"
        else:
            seat.leave()
            word = "up" if is_up else "over"
        start("200 OK", [("Content-Type", "text/plain")])
        return [word.encode()]

    def put(self, topic: str) -> None:
        self.up.add(topic)
        self.room.wake(topic)


def ask(server: Toy, callers: ExitStack, path: str) -> Caller:
    caller = callers.enter_context(server.connect())
    caller.send(get(path))
    return caller


@pytest.fixture
def callers() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_hundreds_wait_and_one_thread_answers_others(callers: ExitStack) -> None:
    board = Board()
    with toy(board, threads=1) as server:
        waiting = [ask(server, callers, f"/topic-{number % 2}") for number in range(300)]
        wait_until(lambda: len(board.calls) == 300)
        board.up.add("now")
        assert server.exchange(get("/now")).body == b"up"

        board.put("topic-1")

        assert {caller.read().body for caller in waiting[1::2]} == {b"up"}
        assert board.calls.count("topic-0") == 150  # nobody else was called again
        board.put("topic-0")
        assert {caller.read().body for caller in waiting[::2]} == {b"up"}
        assert board.room.count() == 0


def test_the_connection_goes_on_behind_it(callers: ExitStack) -> None:
    board = Board(up={"second"})
    with toy(board) as server:
        caller = ask(server, callers, "/first")
        caller.send(get("/second"))  # sent ahead, answered in order
        wait_until(lambda: board.calls == ["first"])
        board.put("first")
        assert [caller.read().body for _ in range(2)] == [b"up", b"up"]
        assert board.calls == ["first", "first", "second"]


def test_a_wake_up_while_it_looks_is_not_lost(callers: ExitStack) -> None:
    board = Board(between=threading.Event())
    with toy(board) as server:
        caller = ask(server, callers, "/early")
        wait_until(lambda: board.calls)
        board.put("early")  # it has looked and seen nothing
        assert board.between
        board.between.set()
        assert caller.read().body == b"up"


def test_its_time_ends(callers: ExitStack) -> None:
    board = Board(seconds=0.2)
    with toy(board, threads=1) as server:
        waiting = [ask(server, callers, "/never") for _ in range(100)]
        assert {caller.read().body for caller in waiting} == {b"over"}
        assert len(board.calls) == 200  # no timer fires early, which would be a call in vain
        assert board.room.count() == 0


def test_who_hangs_up_leaves(callers: ExitStack) -> None:
    board = Board()
    with toy(board) as server:
        for number in range(20):
            ask(server, callers, f"/{number}")
        wait_until(lambda: len(board.calls) == 20)
        assert board.room.count() == 20
        callers.close()
        wait_until(lambda: board.room.count() == 0)
        board.put("1")
        assert server.exchange(get("/1")).body == b"up"
        assert len(board.calls) == 21  # nobody called for those who are gone


def test_there_is_room_for_so_many(callers: ExitStack) -> None:
    board = Board()
    with toy(board, waiting=5, waiting_of_one=3) as server:
        held = [ask(server, callers, "/a/anna") for _ in range(3)]
        wait_until(lambda: len(board.calls) == 3)
        assert server.exchange(get("/a/anna")).body == b"full"
        held += [ask(server, callers, "/a/ben") for _ in range(2)]
        wait_until(lambda: len(board.calls) == 6)
        assert server.exchange(get("/a/carla")).body == b"full"

        board.put("a")
        assert {caller.read().body for caller in held} == {b"up"}
        assert server.exchange(get("/a/anna")).body == b"up"


def test_a_server_that_stops_answers_what_waits(callers: ExitStack) -> None:
    board = Board()
    with toy(board) as server:
        caller = ask(server, callers, "/never")
        wait_until(lambda: board.calls)
        server.stop()
        answer = caller.read()
        assert (answer.body, answer.headers["connection"]) == (b"over", "close")


def test_a_resumed_request_that_fails_gives_its_seat_back() -> None:
    calls = []

    def application(environ: dict[str, Any], start: StartResponse) -> list[bytes]:
        calls.append(json.dumps(environ["PATH_INFO"]))
        if get_resumed(environ):
            raise RuntimeError("on the second call")
        seat = get_room(environ).take("topic", "", 0.1)  # type: ignore[union-attr]
        assert seat is not None
        keep(environ, seat)
        start("200 OK", [])
        return []

    with toy(application) as server:
        assert server.exchange(get("/")).status == 500
        room: Room = server.server.room
        assert (len(calls), room.count()) == (2, 0)
