"""Clients that die while they are woken: every place is free afterwards."""

import random
import select
import socket
import struct
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests
from django.http import HttpResponse

from accounts.models import User
from loops.services import create_loop
from reviews import services
from reviews.models import Request
from tests.conftest import key_of
from tests.front.toy import Toy, deferred_of, get, toy
from tests.reviews.conftest import FIELDS, Make, acting, make
from tests.serving import serving
from tests.waiting import stretched, wait_until
from web.asgi import Request as DjangoRequest
from web.waiting import WaitingList, get_resumed

pytestmark = pytest.mark.django_db(transaction=True)

__all__ = ["make"]  # a fixture
ROUNDS, WAITING, STREAMS = 5, 1500, 90
SIZES = ("--waiting", str(WAITING), "--streams", str(STREAMS))
NOW = struct.pack("ii", 1, 0)  # SO_LINGER: closing resets the connection


class Crowd:
    """Connections that wait for the same request, and streams of its account: they take all."""

    def __init__(self, site: str, keys: list[str]) -> None:
        self.port = int(site.rpartition(":")[2])
        self.keys = keys
        self.waiting: list[socket.socket] = []
        self.streams: list[socket.socket] = []

    def ask(self, path: str, key: str) -> socket.socket:
        one = socket.create_connection(("127.0.0.1", self.port), timeout=stretched())
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NOW)
        head = f"GET /v1/api/{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}"
        one.sendall(f"{head}\r\n\r\n".encode())
        return one

    def wait_for(self, request: Request, count: int) -> bool:
        """Has so many calls wait, unless some are answered at once; asks again for those."""
        for one in answered(self.waiting):
            self.waiting.remove(one)
            one.close()
        missing = count - len(self.waiting)
        path = f"requests/{request.pk}?wait=50"
        self.waiting += [self.ask(path, self.keys[0]) for _ in range(missing)]
        return not missing

    def listen(self) -> bool:
        """Opens a stream; whether there was a place."""
        one = self.ask("events", self.keys[len(self.streams) % 2])
        if one.recv(13) != b"HTTP/1.1 200 ":
            one.close()
            return False
        self.streams.append(one)
        return True

    def reset(self) -> None:
        for one in (*self.waiting, *self.streams):
            one.close()
        self.waiting, self.streams = [], []


def answered(ones: list[socket.socket]) -> list[socket.socket]:
    """Those that have got a response."""
    watch = select.poll()
    for one in ones:
        watch.register(one, select.POLLIN)
    ready = {number for number, _ in watch.poll(0)}
    return [one for one in ones if one.fileno() in ready]


def applied(site: str, key: str, request: Request) -> int:
    """The seconds that a call of this key may wait now: 0 where no place is free."""
    address = f"{site}/v1/api/requests/{request.pk}?wait=1"
    response = requests.get(address, headers={"Authorization": f"Bearer {key}"}, timeout=60)
    assert response.ok, response.text
    return int(response.headers["Wait-Applied"].partition(";")[0])


def test_who_dies_while_it_is_woken_gives_its_place_back(
    make: Make, owner: User, outsider: User, tmp_path: Path
) -> None:
    """In the last round there are as many places as in the first, for everybody."""
    keys = [key_of(owner, hourly_limit=100_000) for _ in range(2)]
    other = key_of(outsider, hourly_limit=100_000)
    loop = create_loop(owner_id=outsider.pk, name="Other", icon="bell")
    idle = services.create_request(loop_id=loop.pk, account=acting(outsider), fields=FIELDS)
    with serving(tmp_path / "log", *SIZES) as site, ExitStack() as stack:
        crowd = Crowd(site, keys)
        stack.callback(crowd.reset)
        for _ in range(ROUNDS):
            request = make()
            wait_until(
                lambda request=request: (  # type: ignore[misc]
                    crowd.wait_for(request, WAITING) and not applied(site, other, idle)
                ),
                30,
            )
            for _ in range(STREAMS):
                wait_until(crowd.listen)
            services.cancel_request(request_id=request.pk, account_id=owner.pk)
            crowd.reset()
        wait_until(lambda: applied(site, other, idle) and applied(site, keys[0], request))
        wait_until(crowd.listen)


def keep_once(request: DjangoRequest) -> HttpResponse:
    """Defers its response; streams go on until their client leaves or the server stops."""
    deferred = deferred_of(request)
    is_stream = request.path == "/stream"
    places = deferred.streams if is_stream else deferred.waiting
    topic = f"topic-{request.GET['n']}"
    waiter = get_resumed(request.META)
    is_new = waiter is None
    waiter = waiter or deferred.take(places, topic, "", 30)
    if waiter is not None and waiter.remaining > 0 and (is_new or is_stream):
        (deferred.keep_open if is_stream else deferred.keep)()
    return HttpResponse("x")


def storm(server: Toy, lists: tuple[WaitingList, WaitingList], chance: random.Random) -> None:
    """A thousand wait beside fifty streams. They leave while they are queued, running, waiting,
    woken or answered."""
    callers = []
    for number in range(1050):
        caller = server.connect()
        caller.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NOW)
        caller.send(get(f"{'/stream' if number % 21 == 0 else '/wait'}?n={number % 4}"))
        callers.append(caller)
        if chance.random() < 0.3:
            callers.pop(chance.randrange(len(callers))).socket.close()
        if chance.random() < 0.05:
            lists[chance.randrange(2)].wake(f"topic-{number % 4}")
    for topic in range(4):
        for places in lists:
            places.wake(f"topic-{topic}")
        for caller in callers[topic::4][:150]:
            caller.socket.close()
    for caller in callers:
        caller.socket.close()


def test_who_leaves_at_any_moment_gives_its_place_back() -> None:
    with toy(keep_once, waiting_of_one=3000, streams_of_one=1000) as server:
        lists = (server.app.waiting, server.app.streams)
        for seed in range(10):
            storm(server, lists, random.Random(seed))
            if seed < 9:  # the last ones leave while it stops
                wait_until(lambda: [places.count() for places in lists] == [0, 0], 30)
        server.stop()
        server.thread.join(30)
        assert not server.thread.is_alive()
        assert [places.count() for places in lists] == [0, 0]
