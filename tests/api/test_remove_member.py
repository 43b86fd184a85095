"""DELETE /api/loops/{id}/members/{userId}."""

import pytest

from accounts.models import User
from loops.models import Loop, Membership
from loops.services import invite_member, join_loop
from tests.api import moments
from tests.api.wire import NOWHERE, TIME, Api, Ask, granted, refused

pytestmark = pytest.mark.django_db

REMOVED = "Member removed from loop successfully"


@pytest.mark.contract("remove_member.data", "remove_member.msg", "loop.updated_at")
def test_it_removes(api: Api, owner_key: str, member: User, loop: Loop) -> None:
    data = granted(api(owner_key).delete(f"/v1/api/loops/{loop.pk}/members/{member.pk}"), REMOVED)
    assert TIME.fullmatch(data["removed_at"])
    assert data == {"loop_id": loop.pk, "user_id": member.pk, "removed_at": data["removed_at"]}
    shown = granted(api(owner_key).get(f"/v1/api/loops/{loop.pk}"), "Loop retrieved successfully")
    assert shown["loop"]["member_count"] == 1


@pytest.mark.contract("remove_member.access")
def test_access_ends_at_once_and_rejoining_is_possible(
    api: Api, owner_key: str, member: User, member_key: str, loop: Loop, ask: Ask
) -> None:
    path = f"/v1/api/requests/{ask()}"
    granted(api(member_key).get(path), "Request retrieved successfully")
    api(owner_key).delete(f"/v1/api/loops/{loop.pk}/members/{member.pk}")
    refused(api(member_key).get(path), 403, "Access denied to this request")
    refused(
        api(member_key).get(f"/v1/api/loops/{loop.pk}/requests"), 403, "Access denied to this loop"
    )
    join_loop(user=member, code=loop.invite_code)
    granted(api(member_key).get(path), "Request retrieved successfully")


@pytest.mark.contract("remove_member.claims", "claim.back")
def test_what_they_held_is_pending_again(
    api: Api, owner_key: str, member: User, loop: Loop, ask: Ask
) -> None:
    held = ask()
    moments.claim(held, member)
    api(owner_key).delete(f"/v1/api/loops/{loop.pk}/members/{member.pk}")
    shown = granted(
        api(owner_key).get(f"/v1/api/requests/{held}"), "Request retrieved successfully"
    )["request"]
    assert (shown["status"], shown["claimed_by"], shown["claimed_at"]) == ("pending", None, None)


@pytest.mark.contract("pending.listed", "remove_member.data")
def test_pending_members_can_be_removed(api: Api, owner_key: str, loop: Loop) -> None:
    invited = invite_member(loop=loop, email="new@example.org")
    path = f"/v1/api/loops/{loop.pk}/members/{invited.member_id.upper()}"
    assert granted(api(owner_key).delete(path), REMOVED)["user_id"] == invited.member_id
    refused(api(owner_key).delete(path), 404, "User is not a member of this loop")


@pytest.mark.contract("remove_member.creator")
def test_the_creator_stays(api: Api, owner: User, owner_key: str, loop: Loop) -> None:
    for user_id in (owner.pk, owner.pk.upper()):
        response = api(owner_key).delete(f"/v1/api/loops/{loop.pk}/members/{user_id}")
        refused(response, 403, "Loop creator cannot remove themselves")
    assert Membership.objects.filter(loop=loop).count() == 2


@pytest.mark.contract("remove_member.no_member")
@pytest.mark.parametrize("user_id", [NOWHERE, "x", "0" * 25, "%00", "%ff", "a%20b", "%C3%A9"])
def test_no_member(api: Api, owner_key: str, loop: Loop, user_id: str) -> None:
    response = api(owner_key).delete(f"/v1/api/loops/{loop.pk}/members/{user_id}")
    refused(response, 404, "User is not a member of this loop")


@pytest.mark.contract("remove_member.no_member")
def test_a_person_outside_is_no_member(
    api: Api, owner_key: str, outsider: User, loop: Loop
) -> None:
    response = api(owner_key).delete(f"/v1/api/loops/{loop.pk}/members/{outsider.pk}")
    refused(response, 404, "User is not a member of this loop")


@pytest.mark.contract("remove_member.denied")
def test_only_the_creator(
    api: Api, owner: User, member: User, member_key: str, outsider_key: str, loop: Loop
) -> None:
    for key in (member_key, outsider_key):
        for user_id in (owner.pk, member.pk, NOWHERE, "x"):
            response = api(key).delete(f"/v1/api/loops/{loop.pk}/members/{user_id}")
            refused(response, 403, "Only loop creator can remove members")
    assert Membership.objects.filter(loop=loop).count() == 2


@pytest.mark.contract("remove_member.missing", "remove_member.malformed")
def test_ids(api: Api, owner_key: str, owner: User) -> None:
    response = api(owner_key).delete(f"/v1/api/loops/{NOWHERE}/members/{owner.pk}")
    refused(response, 404, "Loop not found")
    response = api(owner_key).delete(f"/v1/api/loops/x/members/{owner.pk}")
    refused(response, 400, "Invalid loop ID format")
