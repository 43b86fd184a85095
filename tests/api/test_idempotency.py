"""A POST with an Idempotency-Key happens once, however often and however quickly it is sent."""

import threading
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections
from django.db.models import F
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext

from accounts import idempotency, tasks
from accounts.models import StoredResponse, Usage, User
from api.loops import Loops
from loops.models import Loop
from reviews import services
from reviews.models import Feedback, Request
from tests.api.bodies import QUESTION
from tests.api.wire import Api, body_of, refused
from tests.conftest import key_of

pytestmark = pytest.mark.django_db
KEY = {"Idempotency-Key": "order-4711"}
NEW_LOOP = {"name": "Refunds", "icon": "star"}
REUSED = "Idempotency-Key was already used for another call"
RUNNING = "A call with this Idempotency-Key is still running"


def calls() -> int:
    return sum(Usage.objects.values_list("calls", flat=True))


def is_replay(response: HttpResponse) -> bool:
    return response.headers.get("Idempotent-Replayed") == "true"


def test_a_repeated_create_gets_the_first_response(api: Api, owner_key: str, loop: Loop) -> None:
    path = f"/v1/api/loops/{loop.pk}/requests"
    first, second = (api(owner_key).post(path, QUESTION, **KEY) for _ in range(2))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content == second.content
    assert [is_replay(each) for each in (first, second)] == [False, True]
    assert Request.objects.count() == 1
    assert calls() == 1
    assert second["X-RateLimit-Remaining"] == first["X-RateLimit-Remaining"] == "99"
    assert second["RateLimit"].startswith('"hour";r=99;')
    assert second["Link"] == first["Link"]


def test_what_it_makes_is_on_the_disk_before_the_response(
    api: Api, owner_key: str, loop: Loop
) -> None:
    """A charge commits without waiting, but this one commits with what the call has made."""
    with CaptureQueriesContext(connection) as queries:
        api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", QUESTION, **KEY)
    statements = [query["sql"] for query in queries if "synchronous_commit" in query["sql"]]
    *_, charge, restore = statements
    assert "'off'" in charge
    assert restore == "SET LOCAL synchronous_commit TO DEFAULT"


def test_every_post_takes_one(api: Api, owner_key: str, loop: Loop, member: User) -> None:
    client = api(owner_key)
    made = [client.post("/v1/api/loops", NEW_LOOP, **KEY) for _ in range(2)]
    path, asking = f"/v1/api/loops/{loop.pk}/requests", {"Idempotency-Key": "ask"}
    asked = [client.post(path, QUESTION, **asking) for _ in range(2)]
    request = Request.objects.get()
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    path, rating = f"/v1/api/requests/{request.pk}/feedback", {"Idempotency-Key": "rate"}
    rated = [client.post(path, {"feedback": {"stars": 5}}, **rating) for _ in range(2)]
    for first, second in (made, asked, rated):
        assert first.content == second.content
        assert (is_replay(first), is_replay(second)) == (False, True)
    assert (Loop.objects.count(), Feedback.objects.count(), calls()) == (2, 1, 3)


def test_without_one_nothing_is_kept(api: Api, owner_key: str) -> None:
    for _ in range(2):
        assert api(owner_key).post("/v1/api/loops", NEW_LOOP).status_code == 201
    assert (Loop.objects.count(), StoredResponse.objects.count()) == (2, 0)


def test_other_methods_ignore_it(api: Api, owner_key: str, loop: Loop) -> None:
    for name in ("A", "B"):
        answer = api(owner_key).put(f"/v1/api/loops/{loop.pk}", {"name": name}, **KEY)
        assert body_of(answer)["data"]["loop"]["name"] == name
    assert not StoredResponse.objects.exists()


def test_another_call_under_the_same_key_is_refused(api: Api, owner_key: str, loop: Loop) -> None:
    client = api(owner_key)
    client.post("/v1/api/loops", NEW_LOOP, **KEY)
    refused(client.post("/v1/api/loops", {**NEW_LOOP, "name": "Other"}, **KEY), 422, REUSED)
    path = f"/v1/api/loops/{loop.pk}/requests"
    refused(client.post(path, NEW_LOOP, **KEY), 422, REUSED)
    assert calls() == 1


def test_keys_belong_to_their_account(
    api: Api, owner: User, owner_key: str, outsider_key: str
) -> None:
    for secret in (owner_key, outsider_key):
        assert not is_replay(api(secret).post("/v1/api/loops", NEW_LOOP, **KEY))
    assert is_replay(api(key_of(owner)).post("/v1/api/loops", NEW_LOOP, **KEY))  # another API key
    assert Loop.objects.count() == 2


@pytest.mark.parametrize(
    ("sent", "stored"),
    [("a", "a"), ('"a b"', "a b"), (r'"a\"b"', 'a"b'), ("x" * 255, "x" * 255), ('"', '"')],
)
def test_keys_that_it_takes(api: Api, owner_key: str, sent: str, stored: str) -> None:
    api(owner_key).post("/v1/api/loops", NEW_LOOP, **{"Idempotency-Key": sent})
    assert StoredResponse.objects.get().key == stored


@pytest.mark.parametrize("sent", ["", "  ", '""', "x" * 256, "é", "a\tb"])
def test_keys_that_it_does_not_take(api: Api, owner_key: str, sent: str) -> None:
    answer = api(owner_key).post("/v1/api/loops", NEW_LOOP, **{"Idempotency-Key": sent})
    rule = "Idempotency-Key must be 1 to 255 printable ASCII characters"
    refused(answer, 400, "Validation failed", rule)
    assert (Loop.objects.count(), calls()) == (0, 1)


def test_failures_are_charged_and_not_kept(api: Api, owner_key: str) -> None:
    client = api(owner_key)
    refused(client.post("/v1/api/loops", {"icon": "star"}, **KEY), 400, "Loop name is required")
    assert (calls(), StoredResponse.objects.count()) == (1, 0)
    assert client.post("/v1/api/loops", NEW_LOOP, **KEY).status_code == 201
    assert calls() == 2


def test_a_key_without_permission_is_charged(api: Api, owner: User) -> None:
    client = api(key_of(owner, permissions=["loops:read"]))
    refused(client.post("/v1/api/loops", NEW_LOOP, **KEY), 403, "Access denied to this resource")
    assert calls() == 1


def test_what_fails_in_the_middle_leaves_nothing(
    api: Api, owner_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(idempotency, "store_response", fail)
        refused(api(owner_key).post("/v1/api/loops", NEW_LOOP, **KEY), 500, "Failed to create loop")
    assert (Loop.objects.count(), calls()) == (0, 1)
    assert api(owner_key).post("/v1/api/loops", NEW_LOOP, **KEY).status_code == 201


def test_repeating_works_without_calls_left(api: Api, owner: User) -> None:
    client = api(key_of(owner, hourly_limit=1))
    client.post("/v1/api/loops", NEW_LOOP, **KEY)
    assert is_replay(client.post("/v1/api/loops", NEW_LOOP, **KEY))
    another = client.post("/v1/api/loops", NEW_LOOP, **{"Idempotency-Key": "another"})
    assert another.status_code == 429
    assert Loop.objects.count() == 1


def test_unknown_paths_and_keys(api: Api, owner_key: str) -> None:
    refused(api(owner_key).post("/v1/nowhere", {}, **KEY), 404, "Not found")
    refused(api("rl_x").post("/v1/api/loops", NEW_LOOP, **KEY), 401, "Invalid API key")
    assert calls() == 0


def test_it_is_kept_for_a_day(api: Api, owner_key: str) -> None:
    client = api(owner_key)
    client.post("/v1/api/loops", NEW_LOOP, **KEY)
    assert tasks.forget_responses() == 0
    StoredResponse.objects.update(created_at=F("created_at") - timedelta(hours=24))
    other = client.post("/v1/api/loops", {**NEW_LOOP, "name": "Next day"}, **KEY)
    assert (other.status_code, is_replay(other)) == (201, False)
    StoredResponse.objects.update(created_at=F("created_at") - timedelta(hours=24))
    assert tasks.forget_responses() == 1


def test_statements(api: Api, owner_key: str, loop: Loop, django_assert_num_queries: Any) -> None:
    path = f"/v1/api/loops/{loop.pk}/requests"
    api(owner_key).post(path, QUESTION, **KEY)
    with django_assert_num_queries(2):  # the caller, the stored response
        assert is_replay(api(owner_key).post(path, QUESTION, **KEY))
    with django_assert_num_queries(2):  # without the header: the charge, the create
        api(owner_key).post(path, QUESTION)


@pytest.mark.django_db(transaction=True)
def test_the_second_of_two_at_once_is_told_to_wait(
    api: Api, owner_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_in, may_end = threading.Event(), threading.Event()
    post = Loops.post

    def slow(view: Loops, call: Any) -> HttpResponse:
        is_in.set()
        assert may_end.wait(30)
        return post(view, call)

    monkeypatch.setattr(Loops, "post", slow)
    answers: list[Any] = []

    def first() -> None:
        answers.append(api(owner_key).post("/v1/api/loops", NEW_LOOP, **KEY))
        connections.close_all()

    thread = threading.Thread(target=first)
    thread.start()
    assert is_in.wait(30)
    second = api(owner_key).post("/v1/api/loops", NEW_LOOP, **KEY)
    refused(second, 409, RUNNING)
    assert second["Retry-After"] == "1"
    may_end.set()
    thread.join()
    assert answers[0].status_code == 201
    assert is_replay(api(owner_key).post("/v1/api/loops", NEW_LOOP, **KEY))
    assert (Loop.objects.count(), calls()) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_a_hundred_racing_creates_are_one(api: Api, owner_key: str, loop: Loop) -> None:
    path = f"/v1/api/loops/{loop.pk}/requests"
    start = threading.Barrier(10)
    answers: list[Any] = []

    def race() -> None:
        try:
            start.wait()
            for _ in range(10):
                answers.append(api(owner_key).post(path, QUESTION, **KEY))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=race) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = Counter(each.status_code for each in answers)
    assert set(statuses) <= {201, 409}
    assert len({each.content for each in answers if each.status_code == 201}) == 1
    assert [is_replay(each) for each in answers if each.status_code == 201].count(False) == 1
    assert (Request.objects.count(), calls()) == (1, 1)
