"""Clients that die while they are woken: every place is free afterwards."""

import select
import socket
import struct
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests

from accounts.models import User
from loops.services import create_loop
from reviews import services
from reviews.models import Request
from tests.conftest import key_of
from tests.reviews.conftest import FIELDS, Make, acting, make
from tests.serving import serving
from tests.waiting import stretched, wait_until

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
