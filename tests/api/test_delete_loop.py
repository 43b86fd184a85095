"""DELETE /api/loops/{id}."""

import pytest

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from tests.api import moments
from tests.api.wire import NOWHERE, Api, Ask, granted, refused

pytestmark = pytest.mark.django_db

DELETED = "Loop deleted successfully"


@pytest.mark.contract("delete_loop.data", "delete_loop.gone")
def test_the_loop_is_gone(api: Api, plenty: str, owner: User, loop: Loop) -> None:
    path = f"/v1/api/loops/{loop.pk}"
    assert granted(api(plenty).delete(path), DELETED) == {"loop_id": loop.pk}
    assert granted(api(plenty).get("/v1/api/loops"), "Loops retrieved successfully")["count"] == 0
    client = api(plenty)
    gone = [
        client.get(path),
        client.put(path, {"name": "x"}),
        client.delete(path),
        client.get(f"{path}/members"),
        client.delete(f"{path}/members/{owner.pk}"),
        client.post(f"{path}/requests", {}),
        client.get(f"{path}/requests"),
    ]
    for answer in gone:
        refused(answer, 404, "Loop not found")


@pytest.mark.contract("delete_loop.open_requests", "claim.deleted")
@pytest.mark.usefixtures("steady_hour")
def test_its_open_requests_are_cancelled_without_credit(
    api: Api, owner_key: str, member: User, loop: Loop, ask: Ask
) -> None:
    pending, claimed = ask(), ask()
    moments.claim(claimed, member)
    api(owner_key).delete(f"/v1/api/loops/{loop.pk}")
    for request_id in (pending, claimed):
        response = api(owner_key).get(f"/v1/api/requests/{request_id}")
        shown = granted(response, "Request retrieved successfully")["request"]
        assert (shown["status"], shown["response_data"]) == ("cancelled", None)
        response = api(owner_key).delete(f"/v1/api/requests/{request_id}")
        refused(response, 400, "Request cannot be cancelled in current state")
    rest = granted(api(owner_key).get("/v1/test"), "API key is valid")["rate_limit"]
    assert rest["remaining"] == 100 - 6


@pytest.mark.contract("delete_loop.open_requests")
@pytest.mark.usefixtures("steady_hour")
def test_the_key_that_created_them_gets_no_credit(
    api: Api, plenty: str, loop: Loop, ask: Ask
) -> None:
    ask()
    api(plenty).delete(f"/v1/api/loops/{loop.pk}")
    rest = granted(api(plenty).get("/v1/test"), "API key is valid")["rate_limit"]
    assert rest["remaining"] == 100_000 - 3


@pytest.mark.contract("delete_loop.finished")
def test_its_finished_requests_stay(
    api: Api, plenty: str, member: User, member_key: str, loop: Loop, ask: Ask
) -> None:
    done, late = ask(), ask()
    moments.answer(done, member)
    moments.let_pass(late, hours=2)
    api(plenty).delete(f"/v1/api/loops/{loop.pk}")
    client = api(plenty)
    shown = granted(client.get(f"/v1/api/requests/{done}"), "Request retrieved successfully")
    assert shown["request"]["status"] == "completed"
    shown = granted(client.get(f"/v1/api/requests/{late}"), "Request retrieved successfully")
    assert (shown["request"]["status"], shown["request"]["response_data"]) == ("timeout", "no")
    listed = granted(client.get("/v1/api/requests"), "Requests retrieved successfully")
    assert {entry["id"] for entry in listed["requests"]} == {done, late}
    response = client.post(f"/v1/api/requests/{done}/feedback", {"feedback": {"rating": 5}})
    granted(response, "Feedback added successfully")


@pytest.mark.contract("delete_loop.denied", "auth.loop_rules")
def test_only_the_creator(api: Api, member_key: str, outsider_key: str, loop: Loop) -> None:
    for key in (member_key, outsider_key):
        response = api(key).delete(f"/v1/api/loops/{loop.pk}")
        refused(response, 403, "Only loop creator can delete the loop")
    assert Loop.objects.get(pk=loop.pk).deleted_at is None


@pytest.mark.contract("delete_loop.missing", "delete_loop.malformed")
def test_ids(api: Api, owner_key: str) -> None:
    refused(api(owner_key).delete(f"/v1/api/loops/{NOWHERE}"), 404, "Loop not found")
    refused(api(owner_key).delete("/v1/api/loops/12"), 400, "Invalid loop ID format")


@pytest.mark.contract("delete_loop.data")
def test_the_id_is_answered_in_lowercase(api: Api, owner_key: str, loop: Loop) -> None:
    response = api(owner_key).delete(f"/v1/api/loops/{loop.pk.upper()}")
    assert granted(response, DELETED) == {"loop_id": loop.pk}
    assert not Request.objects.exists()
