"""GET /api/requests/{id}?wait=N, against the real web server."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta

import pytest
import requests
from django.db import connection
from django.db.models.functions import Now

from accounts.key_format import digest
from accounts.models import ApiKey, User
from reviews import services
from reviews.models import Request
from tests.backends import backends, listening
from tests.conftest import Api
from tests.reviews.conftest import Make, make
from tests.serving import is_read
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

__all__ = ["make"]  # a fixture
LATER = 20.0  # seconds to wait for what comes at once on a quiet machine


class Site:
    """The service on real sockets, and people who wait for it."""

    def __init__(self, address: str, key: str, pool: ThreadPoolExecutor) -> None:
        self.address = address
        self.key = key
        self.pool = pool

    def read(self, request_id: str, wait: object = None, key: str = "") -> requests.Response:
        params = {} if wait is None else {"wait": str(wait)}
        headers = {"Authorization": f"Bearer {key or self.key}"}
        address = f"{self.address}/v1/api/requests/{request_id}"
        return requests.get(address, params, headers=headers, timeout=60)

    def wait(self, request_id: str, seconds: int = 50) -> "Future[requests.Response]":
        """A call that waits, once it does."""
        before = calls_of(self.key)
        waiting = self.pool.submit(self.read, request_id, seconds)
        wait_until(lambda: calls_of(self.key) > before)
        return waiting


def calls_of(key: str) -> int:
    """The calls that the key has been charged with."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(calls), 0) FROM accounts_usage u"
            " JOIN accounts_apikey k ON k.id = u.key_id WHERE k.digest = %s",
            [digest(key)],
        )
        return int(cursor.fetchone()[0])


@pytest.fixture
def site(service: str, owner_key: str) -> Iterator[Site]:
    with ThreadPoolExecutor(8) as pool:
        yield Site(service, owner_key, pool)


def status_of(response: requests.Response) -> str:
    assert response.status_code == 200, response.text
    return str(response.json()["data"]["request"]["status"])


def test_a_call_waits_for_the_end(site: Site, make: Make, member: User, owner: User) -> None:
    answered, cancelled, timed_out = make(), make(), make()
    waiting = [site.wait(answered.pk), site.wait(answered.pk), site.wait(cancelled.pk)]
    plain = site.read(answered.pk)
    assert status_of(plain) == "pending"  # who does not ask to wait does not wait
    assert "Wait-Applied" not in plain.headers

    services.claim_request(request=answered, reviewer_id=member.pk)
    services.answer_request(request=answered, reviewer_id=member.pk, answer="yes")
    first, second = (each.result(LATER) for each in waiting[:2])
    assert status_of(first) == "completed"
    assert first.json() == second.json() == site.read(answered.pk).json()
    assert first.headers["Wait-Applied"] == "50"
    assert not waiting[2].done()

    services.cancel_request(request_id=cancelled.pk, account_id=owner.pk)
    assert status_of(waiting[2].result(LATER)) == "cancelled"

    Request.objects.filter(pk=timed_out.pk).update(timeout_at=Now() + timedelta(seconds=1.5))
    response = site.wait(timed_out.pk).result(LATER)  # nobody sweeps here: the reader settles it
    assert status_of(response) == "timeout"

    charged = calls_of(site.key)
    assert status_of(site.read(answered.pk, 50)) == "completed"  # at once
    assert calls_of(site.key) == charged + 1


def test_nothing_happens_and_the_time_ends(site: Site, make: Make) -> None:
    request = make()
    charged, begun = calls_of(site.key), time.monotonic()
    response = site.read(request.pk, 1)
    assert status_of(response) == "pending"
    assert time.monotonic() - begun >= 1
    assert calls_of(site.key) == charged + 1
    assert int(response.headers["X-RateLimit-Remaining"]) == 100 - charged - 1


def test_what_was_lost_is_read_again(site: Site, make: Make, member: User) -> None:
    """The listening connection breaks, and the request ends meanwhile."""
    request = make()
    waiting = site.wait(request.pk)
    wait_until(listening)
    (listener,) = listening()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [listener])
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    assert status_of(waiting.result(LATER)) == "completed"


def test_a_key_that_is_revoked_meanwhile(site: Site, make: Make, member: User) -> None:
    request = make()
    waiting = site.wait(request.pk)
    wait_until(is_read)
    ApiKey.objects.update(state=ApiKey.State.DELETED)
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    response = waiting.result(LATER)
    assert (response.status_code, response.json()["msg"]) == (401, "Invalid API key")


def test_a_key_that_may_no_longer_read(site: Site, make: Make, member: User) -> None:
    request = make()
    waiting = site.wait(request.pk)
    wait_until(is_read)
    ApiKey.objects.update(permissions=["loops:read"])
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    assert waiting.result(LATER).status_code == 403


def test_nothing_is_held_in_the_database(site: Site, make: Make) -> None:
    request = make()
    site.read(request.pk)
    waiting = [site.wait(request.pk, 2) for _ in range(6)]
    wait_until(listening)
    assert len(backends()) <= 4 + 1 + 1  # the threads', readiness, and the listener
    assert {status_of(each.result(LATER)) for each in waiting} == {"pending"}


@pytest.mark.parametrize("wait", ["0", "51", "-1", "1.5", "", "ten", "١", "9" * 5000])
def test_a_wait_that_makes_no_sense(api: type[Api], owner_key: str, make: Make, wait: str) -> None:
    response = api(owner_key).get(f"/v1/api/requests/{make().pk}?wait={wait}")
    assert response.status_code == 400
    assert response.json() == {
        "error": True,
        "msg": "Validation failed",
        "data": "wait must be an integer between 1 and 50",
    }


def test_a_server_without_room_answers_at_once(api: type[Api], owner_key: str, make: Make) -> None:
    response = api(owner_key).get(f"/v1/api/requests/{make().pk}?wait=50")
    assert response.json()["data"]["request"]["status"] == "pending"
    assert response["Wait-Applied"] == '0; reason="too many calls are waiting"'


def test_another_accounts_request(api: type[Api], outsider_key: str, make: Make) -> None:
    response = api(outsider_key).get(f"/v1/api/requests/{make().pk}?wait=50")
    assert response.status_code == 403
