"""The number of statements per call, including those of the key and the quota."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from accounts.services import create_account
from loops.models import Loop
from loops.services import create_loop, invite_member, join_loop
from tests.api import moments
from tests.api.bodies import QUESTION
from tests.api.wire import Api, Ask, json_of

pytestmark = pytest.mark.django_db

BOUNDARIES = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")


def statements(call: Callable[[], HttpResponse], status: int = 200) -> int:
    """How many statements the call takes; transaction boundaries do not count."""
    with CaptureQueriesContext(connection) as queries:
        answer = call()
    assert answer.status_code == status, answer.content
    return sum(not query["sql"].startswith(BOUNDARIES) for query in queries)


def test_poll(
    api: Api, plenty: str, member: User, member_key: str, outsider_key: str, ask: Ask
) -> None:
    pending, done, claimed, late = ask(), ask(), ask(), ask()
    moments.answer(done, member)
    moments.claim(claimed, member)
    for key in (plenty, member_key):
        for request_id in (pending, done, claimed):
            path = f"/v1/api/requests/{request_id}"
            assert statements(lambda path=path, key=key: api(key).get(path)) == 2  # type: ignore[misc]
    assert statements(lambda: api(outsider_key).get(path), status=403) == 2
    moments.let_pass(late, hours=2)
    path = f"/v1/api/requests/{late}"
    api(plenty).get(path)
    assert statements(lambda: api(plenty).get(path)) == 2


def test_create(api: Api, plenty: str, member_key: str, loop: Loop) -> None:
    path = f"/v1/api/loops/{loop.pk}/requests"
    assert statements(lambda: api(plenty).post(path, QUESTION), status=201) == 2
    assert statements(lambda: api(member_key).post(path, QUESTION), status=403) == 2
    for number in range(20):
        person = create_account(email=f"person{number}@example.org")
        join_loop(user=person, code=loop.invite_code)
    assert statements(lambda: api(plenty).post(path, QUESTION), status=201) == 2
    assert statements(lambda: api(plenty).post(path, {}), status=400) == 2


def test_lists_of_requests(api: Api, plenty: str, member_key: str, loop: Loop, ask: Ask) -> None:
    calls = [
        (plenty, "/v1/api/requests?limit=100"),
        (plenty, "/v1/api/requests?limit=100&status=pending&sort=priority_desc"),
        (plenty, f"/v1/api/loops/{loop.pk}/requests?limit=100"),
        (member_key, f"/v1/api/loops/{loop.pk}/requests?limit=100"),
    ]
    counts = []
    for rows in (1, 49):
        for _ in range(rows):
            ask()
        counts.append([statements(lambda c=call: api(c[0]).get(c[1])) for call in calls])  # type: ignore[misc]
    assert json_of(api(plenty).get(calls[0][1]))["data"]["count"] == 50
    assert counts[0] == counts[1]
    assert counts[1] == [2, 2, 3, 3]  # the key; the loop; rows and total at once


def test_list_of_loops(api: Api, owner: User, plenty: str, loop: Loop) -> None:
    few = statements(lambda: api(plenty).get("/v1/api/loops"))
    for number in range(10):
        created = create_loop(owner_id=owner.pk, name=f"Loop {number}", icon="bell")
        for place in range(3):
            invite_member(loop=created, email=f"{number}.{place}@example.org")
            person = create_account(email=f"joined{number}.{place}@example.org")
            join_loop(user=person, code=created.invite_code)
    assert statements(lambda: api(plenty).get("/v1/api/loops")) == few
    assert few <= 4


def test_members_of_a_loop(api: Api, plenty: str, loop: Loop) -> None:
    path = f"/v1/api/loops/{loop.pk}/members"
    few = statements(lambda: api(plenty).get(path))
    for number in range(10):
        person = create_account(email=f"person{number}@example.org")
        join_loop(user=person, code=loop.invite_code)
    assert statements(lambda: api(plenty).get(path)) == few
    assert few <= 4
