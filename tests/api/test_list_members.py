"""GET /api/loops/{id}/members."""

import pytest

from accounts.models import User
from loops.models import Loop
from loops.services import invite_member
from tests.api.wire import NOWHERE, TIME, Api, granted, refused

pytestmark = pytest.mark.django_db

LISTED = "Loop members retrieved successfully"


@pytest.mark.contract(
    "list_members.data",
    "list_members.counts",
    "list_members.msg",
    "member.user_id",
    "member.email",
    "member.status",
    "member.joined_at",
    "pending.listed",
)
def test_it_lists_them(api: Api, owner: User, owner_key: str, member: User, loop: Loop) -> None:
    invited = invite_member(loop=loop, email="new@example.org")
    data = granted(api(owner_key).get(f"/v1/api/loops/{loop.pk}/members"), LISTED)
    assert set(data) == {
        "loop_id",
        "members",
        "count",
        "total_count",
        "member_count",
        "active_count",
        "pending_count",
    }
    assert data["loop_id"] == loop.pk
    assert data["total_count"] == data["member_count"] == data["count"]
    assert (data["count"], data["active_count"], data["pending_count"]) == (3, 2, 1)
    people = {entry["user_id"]: entry for entry in data["members"]}
    assert set(people) == {owner.pk, member.pk, invited.member_id}
    for person in (owner, member):
        joined_at = people[person.pk].pop("joined_at")
        assert TIME.fullmatch(joined_at)
        assert people[person.pk] == {
            "user_id": person.pk,
            "email": person.email,
            "status": "active",
            "verified": True,
        }
    assert people[invited.member_id] == {
        "user_id": invited.member_id,
        "email": "new@example.org",
        "status": "pending",
        "joined_at": None,
        "verified": False,
    }


@pytest.mark.contract("list_members.denied")
def test_only_the_creator(api: Api, member_key: str, outsider_key: str, loop: Loop) -> None:
    for key in (member_key, outsider_key):
        response = api(key).get(f"/v1/api/loops/{loop.pk}/members")
        refused(response, 403, "Access denied to this loop")


@pytest.mark.contract("list_members.missing", "list_members.malformed")
def test_ids(api: Api, owner_key: str) -> None:
    response = api(owner_key).get(f"/v1/api/loops/{NOWHERE}/members")
    refused(response, 404, "Loop not found")
    response = api(owner_key).get("/v1/api/loops/nonsense/members")
    refused(response, 400, "Invalid loop ID format")
