"""GET /api/loops."""

import pytest

from accounts.models import User
from loops.models import Loop
from loops.services import create_loop, invite_member
from tests.api.wire import Api, granted

pytestmark = pytest.mark.django_db

LISTED = "Loops retrieved successfully"


@pytest.mark.contract("list_loops.loops", "list_loops.count", "list_loops.msg")
def test_it_lists_what_the_caller_created(
    api: Api, owner: User, owner_key: str, loop: Loop
) -> None:
    second = create_loop(owner_id=owner.pk, name="Second", icon="bell")
    data = granted(api(owner_key).get("/v1/api/loops"), LISTED)
    assert set(data) == {"loops", "count"}
    assert data["count"] == 2
    assert {entry["id"] for entry in data["loops"]} == {loop.pk, second.pk}


@pytest.mark.contract("list_loops.loops", "loop.members", "loop.member_count", "pending.listed")
def test_its_entries_are_those_of_the_single_read(api: Api, owner_key: str, loop: Loop) -> None:
    invite_member(loop=loop, email="new@example.org")
    [entry] = granted(api(owner_key).get("/v1/api/loops"), LISTED)["loops"]
    single = granted(api(owner_key).get(f"/v1/api/loops/{loop.pk}"), "Loop retrieved successfully")
    assert entry.items() <= single["loop"].items()
    assert single["loop"].keys() - entry.keys() == {"invite_code", "join_url", "qr_code_url"}
    assert (entry["member_count"], entry["pending_count"], len(entry["members"])) == (3, 1, 3)


@pytest.mark.contract("auth.scope", "auth.as_owner", "auth.loop_rules")
@pytest.mark.usefixtures("loop")
def test_members_and_outsiders_do_not_see_it(api: Api, member_key: str, outsider_key: str) -> None:
    for key in (member_key, outsider_key):
        assert granted(api(key).get("/v1/api/loops"), LISTED) == {"loops": [], "count": 0}


@pytest.mark.contract("auth.as_owner")
def test_two_keys_of_one_account_see_the_same(
    api: Api, owner_key: str, plenty: str, loop: Loop
) -> None:
    first = granted(api(owner_key).get("/v1/api/loops"), LISTED)
    assert first == granted(api(plenty).get("/v1/api/loops"), LISTED)


def test_query_strings_are_of_no_effect(api: Api, owner_key: str, loop: Loop) -> None:
    response = api(owner_key).get("/v1/api/loops?limit=x&limit=%00&%ff=%ff&offset=-1")
    assert granted(response, LISTED)["count"] == 1
