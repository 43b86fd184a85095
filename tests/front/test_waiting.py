"""A request whose answer comes later holds a place and no thread."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest
from django.http import HttpResponse

from tests.front.toy import Caller, Toy, deferred_of, get, toy
from tests.waiting import wait_until
from web.asgi import Request
from web.waiting import WaitingList, get_resumed


@dataclass
class Board:
    """An application that answers /{topic} once the topic is on the board, or its time is over."""

    seconds: float = 30.0
    up: set[str] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)
    places: WaitingList = field(default_factory=lambda: WaitingList(0, 0))
    between: threading.Event | None = None  # set: the test comes between the look and the answer

    def __call__(self, request: Request) -> HttpResponse:
        topic, _, group = request.path.strip("/").partition("/")
        self.calls.append(topic)
        deferred = deferred_of(request)
        self.places = deferred.waiting
        waiter = get_resumed(request.META)
        waiter = waiter or deferred.take(deferred.waiting, topic, group, self.seconds)
        is_up = topic in self.up
        if self.between is not None:
            self.between.wait(10)
        if waiter is None:
            word = "full"
        elif not is_up and waiter.remaining > 0:
            deferred.keep()
            word = "dropped"
        else:
            word = "up" if is_up else "over"
        return HttpResponse(word, content_type="text/plain")

    def put(self, topic: str) -> None:
        self.up.add(topic)
        self.places.wake(topic)


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
        assert server.app.waiting.count() == 0


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
        assert server.app.waiting.count() == 0


def test_who_hangs_up_leaves(callers: ExitStack) -> None:
    board = Board()
    with toy(board) as server:
        for number in range(20):
            ask(server, callers, f"/{number}")
        wait_until(lambda: len(board.calls) == 20)
        assert server.app.waiting.count() == 20
        callers.close()
        wait_until(lambda: server.app.waiting.count() == 0)
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


def test_a_resumed_request_that_fails_gives_its_place_back() -> None:
    calls = []

    def handler(request: Request) -> HttpResponse:
        calls.append(request.path)
        if get_resumed(request.META):
            raise RuntimeError("on the second call")
        deferred = deferred_of(request)
        assert deferred.take(deferred.waiting, "topic", "", 0.1)
        deferred.keep()
        return HttpResponse()

    with toy(handler) as server:
        assert server.exchange(get("/")).status == 500
        assert (len(calls), server.app.waiting.count()) == (2, 0)
