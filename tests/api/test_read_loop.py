"""GET /api/loops/{id}."""

import pytest

from accounts.models import User
from loops.models import Loop, Membership
from loops.services import invite_member
from tests.api.wire import NOWHERE, TIME, Api, granted, refused

pytestmark = pytest.mark.django_db

READ = "Loop retrieved successfully"


@pytest.mark.contract("read_loop.loop", "member.status", "member.joined_at", "loop.pending_count")
def test_it_shows_the_loop(api: Api, owner: User, owner_key: str, member: User, loop: Loop) -> None:
    invited = invite_member(loop=loop, email="new@example.org")
    data = granted(api(owner_key).get(f"/v1/api/loops/{loop.pk}"), READ)
    assert set(data) == {"loop"}
    shown = data["loop"]
    assert set(shown) == {
        "id",
        "name",
        "description",
        "icon",
        "creator_id",
        "members",
        "member_count",
        "pending_count",
        "created_at",
        "updated_at",
        "invite_code",
        "join_url",
        "qr_code_url",
    }
    assert (shown["id"], shown["creator_id"]) == (loop.pk, owner.pk)
    assert (shown["member_count"], shown["pending_count"]) == (3, 1)
    members = {entry["user_id"]: entry for entry in shown["members"]}
    assert set(members) == {owner.pk, member.pk, invited.member_id}
    assert members[member.pk]["status"] == "active"
    assert TIME.fullmatch(members[member.pk]["joined_at"])
    assert members[invited.member_id] == {
        "user_id": invited.member_id,
        "email": "new@example.org",
        "status": "pending",
        "joined_at": None,
        "verified": False,
    }


@pytest.mark.contract("read_loop.invitation")
def test_its_creator_can_invite_again(api: Api, owner_key: str) -> None:
    body = {"name": "Editors", "icon": "edit"}
    created = granted(
        api(owner_key).post("/v1/api/loops", body),
        "Loop created successfully with QR code",
        status=201,
    )
    path = f"/v1/api/loops/{created['loop']['id']}"
    read = granted(api(owner_key).get(path), READ)["loop"]
    changed = granted(api(owner_key).put(path, {"name": "Ed"}), "Loop updated successfully")["loop"]
    for field in ("invite_code", "join_url", "qr_code_url"):
        assert read[field] == changed[field] == created[field]
    listed = granted(api(owner_key).get("/v1/api/loops"), "Loops retrieved successfully")
    assert "invite_code" not in listed["loops"][0]


@pytest.mark.contract("read_loop.malformed", "status.400")
@pytest.mark.parametrize(
    "loop_id", ["x", "0" * 23, "0" * 25, "g" * 24, "%00", "%ff" * 24, "0" * 23 + "%20", "٣" * 24]
)
def test_a_malformed_id(api: Api, owner_key: str, loop_id: str) -> None:
    refused(api(owner_key).get(f"/v1/api/loops/{loop_id}"), 400, "Invalid loop ID format")


@pytest.mark.contract("read_loop.denied", "auth.loop_rules", "status.403")
def test_only_the_creator_reads_it(
    api: Api, member_key: str, outsider_key: str, loop: Loop
) -> None:
    for key in (member_key, outsider_key):
        response = api(key).get(f"/v1/api/loops/{loop.pk}")
        refused(response, 403, "Access denied to this loop")


@pytest.mark.contract("read_loop.missing", "status.404")
def test_an_unknown_loop(api: Api, owner: User, owner_key: str, loop: Loop) -> None:
    refused(api(owner_key).get(f"/v1/api/loops/{NOWHERE}"), 404, "Loop not found")
    another_kind = Membership.objects.filter(loop=loop)[0].pk
    for other in (owner.pk, str(another_kind).rjust(24, "0")):
        refused(api(owner_key).get(f"/v1/api/loops/{other}"), 404, "Loop not found")


@pytest.mark.contract("envelope.ids")
def test_an_uppercase_id_is_answered_in_lowercase(api: Api, owner_key: str, loop: Loop) -> None:
    data = granted(api(owner_key).get(f"/v1/api/loops/{loop.pk.upper()}"), READ)
    assert data["loop"]["id"] == loop.pk
