"""GET /api/loops/{loopId}/requests."""

import pytest

from accounts.models import User
from loops.models import Loop
from loops.services import create_loop, join_loop
from tests.api import moments
from tests.api.bodies import QUESTION
from tests.api.wire import NOWHERE, Api, Ask, granted, refused

pytestmark = pytest.mark.django_db

LISTED = "Loop requests retrieved successfully"


@pytest.mark.contract("loop_list.shape", "loop_list.msg")
def test_it_has_the_shape_of_the_list(
    api: Api, plenty: str, owner: User, loop: Loop, ask: Ask
) -> None:
    other = create_loop(owner_id=owner.pk, name="Other", icon="bell")
    api(plenty).post(f"/v1/api/loops/{other.pk}/requests", QUESTION)
    asked = ask()
    data = granted(api(plenty).get(f"/v1/api/loops/{loop.pk.upper()}/requests"), LISTED)
    account = granted(
        api(plenty).get(f"/v1/api/requests?loop_id={loop.pk}"), "Requests retrieved successfully"
    )
    assert data == {**account, "loop_id": loop.pk}
    assert [entry["id"] for entry in data["requests"]] == [asked]


@pytest.mark.contract("loop_list.allowed", "auth.request_rules")
def test_who_may_list(
    api: Api, owner_key: str, member_key: str, outsider_key: str, loop: Loop, ask: Ask
) -> None:
    ask()
    path = f"/v1/api/loops/{loop.pk}/requests"
    assert granted(api(owner_key).get(path), LISTED)["total"] == 1
    assert granted(api(member_key).get(path), LISTED)["total"] == 1
    refused(api(outsider_key).get(path), 403, "Access denied to this loop")


@pytest.mark.contract("loop_list.query")
def test_its_query(api: Api, plenty: str, member: User, loop: Loop, ask: Ask) -> None:
    low, high, done, late = ask(priority="low"), ask(), ask(), ask()
    moments.answer(done, member)
    moments.let_pass(late, hours=2)
    path = f"/v1/api/loops/{loop.pk}/requests"

    def ids(query: str) -> list[str]:
        data = granted(api(plenty).get(f"{path}?{query}"), LISTED)
        return [entry["id"] for entry in data["requests"]]

    assert ids("status=pending&sort=created_at_asc") == [low, high]
    assert ids("status=completed") == [done]
    assert ids("status=timeout") == [late]
    assert ids("priority=low") == [low]
    assert ids("sort=priority_desc&limit=1&offset=3") == [low]
    assert len(ids(f"loop_id={NOWHERE}")) == 4
    assert len(ids("loop_id=x")) == 4
    page = granted(api(plenty).get(f"{path}?limit=3"), LISTED)
    assert (page["count"], page["total"], page["has_more"]) == (3, 4, True)
    assert page["pagination"] == {"limit": 3, "offset": 0, "next_offset": 3}


@pytest.mark.contract("loop_list.query")
@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("limit=0", "limit must be between 1 and 100"),
        ("status=x", "status must be one of: pending, claimed, completed, timeout, cancelled"),
        ("priority=x", "priority must be one of: low, medium, high, critical"),
    ],
)
def test_bad_values(api: Api, owner_key: str, loop: Loop, query: str, detail: str) -> None:
    response = api(owner_key).get(f"/v1/api/loops/{loop.pk}/requests?{query}")
    refused(response, 400, "Validation failed", detail)


@pytest.mark.contract("loop_list.missing", "loop_list.malformed")
def test_ids(api: Api, owner_key: str) -> None:
    response = api(owner_key).get(f"/v1/api/loops/{NOWHERE}/requests?limit=0")
    refused(response, 404, "Loop not found")
    response = api(owner_key).get("/v1/api/loops/x/requests")
    refused(response, 400, "Invalid loop ID format")


@pytest.mark.contract("invite.late")
def test_whoever_joins_later_sees_what_is_open(
    api: Api, plenty: str, outsider: User, outsider_key: str, loop: Loop, ask: Ask
) -> None:
    asked = ask()
    join_loop(user=outsider, code=loop.invite_code)
    data = granted(api(outsider_key).get(f"/v1/api/loops/{loop.pk}/requests"), LISTED)
    assert [entry["id"] for entry in data["requests"]] == [asked]
    single = api(outsider_key).get(f"/v1/api/requests/{asked}")
    shown = granted(single, "Request retrieved successfully")["request"]
    assert (shown["status"], shown["broadcasted_to"]) == ("pending", 2)
