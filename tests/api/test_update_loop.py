"""PUT /api/loops/{id}."""

from typing import Any

import pytest

from loops.models import Loop
from tests.api.wire import NOWHERE, Api, Ask, granted, refused, send

pytestmark = pytest.mark.django_db

UPDATED = "Loop updated successfully"

ICONS = [
    *("shield-check", "shield-alt", "shield-exclamation", "lock", "key", "document-text"),
    *("document-check", "file-text", "clipboard", "edit", "eye", "search", "thumbs-up"),
    *("thumbs-down", "star", "badge-check", "certificate", "award", "beaker", "cog", "chat"),
    *("comment", "bell", "megaphone", "mail", "folder", "tag", "flag", "bookmark", "heart"),
]


@pytest.mark.contract(
    "update_loop.loop", "update_loop.partial", "update_loop.updated_at", "loop.updated_at"
)
@pytest.mark.parametrize(
    ("field", "value"),
    [("name", "Renamed"), ("description", "Another"), ("description", ""), ("icon", "heart")],
)
def test_it_changes_what_is_supplied(
    api: Api, owner_key: str, loop: Loop, ask: Ask, field: str, value: str
) -> None:
    asked = ask()
    path = f"/v1/api/loops/{loop.pk}"
    before = granted(api(owner_key).get(path), "Loop retrieved successfully")["loop"]
    data = granted(api(owner_key).put(path, {field: value}), UPDATED)
    assert set(data) == {"loop"}
    after = data["loop"]
    assert after["updated_at"] > before["updated_at"]
    assert after == {**before, field: value, "updated_at": after["updated_at"]}
    assert granted(api(owner_key).get(path), "Loop retrieved successfully")["loop"] == after
    assert api(owner_key).get(f"/v1/api/requests/{asked}").status_code == 200


@pytest.mark.contract("update_loop.icon")
def test_the_thirty_icons(api: Api, owner_key: str, loop: Loop) -> None:
    assert len(set(ICONS)) == 30
    for icon in ICONS:
        response = api(owner_key).put(f"/v1/api/loops/{loop.pk}", {"icon": icon})
        assert granted(response, UPDATED)["loop"]["icon"] == icon


@pytest.mark.contract("update_loop.icon", "update_loop.validation")
@pytest.mark.parametrize("icon", ["Heart", "rocket", "", " ", "heart ", "x" * 101])
def test_other_icons(api: Api, owner_key: str, loop: Loop, icon: str) -> None:
    response = api(owner_key).put(f"/v1/api/loops/{loop.pk}", {"icon": icon})
    refused(response, 400, "Validation failed", "icon must be one of: " + ", ".join(ICONS))


@pytest.mark.contract("update_loop.name", "update_loop.description")
@pytest.mark.parametrize(
    "change",
    [{"name": "x"}, {"name": "😀" * 100}, {"description": "😀" * 500}, {"description": " "}],
)
def test_the_limits(api: Api, owner_key: str, loop: Loop, change: dict[str, str]) -> None:
    shown = granted(api(owner_key).put(f"/v1/api/loops/{loop.pk}", change), UPDATED)["loop"]
    assert shown == {**shown, **change}


@pytest.mark.contract("update_loop.validation", "update_loop.name", "update_loop.description")
@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"name": ""}, "name must be between 1 and 100 characters"),
        ({"name": "   "}, "name must be between 1 and 100 characters"),
        ({"name": "x" * 101}, "name must be between 1 and 100 characters"),
        ({"name": 5}, "name must be a string"),
        ({"description": "x" * 501}, "description must be at most 500 characters"),
        ({"description": 5}, "description must be a string"),
        ({"icon": 5}, "icon must be one of: " + ", ".join(ICONS)),
        ({"icon": 5, "description": 5, "name": "ok"}, "description must be a string"),
        ({"icon": 5, "description": 5, "name": 5}, "name must be a string"),
    ],
)
def test_what_it_does_not_take(
    api: Api, owner_key: str, loop: Loop, change: dict[str, Any], detail: str
) -> None:
    before = Loop.objects.values().get(pk=loop.pk)
    response = api(owner_key).put(f"/v1/api/loops/{loop.pk}", change)
    refused(response, 400, "Validation failed", detail)
    assert Loop.objects.values().get(pk=loop.pk) == before


@pytest.mark.contract("update_loop.empty", "body.unknown_fields")
@pytest.mark.parametrize("change", [{}, {"colour": "red"}, {"creator_id": NOWHERE}, {"name": None}])
def test_one_field_at_least(api: Api, owner_key: str, loop: Loop, change: dict[str, Any]) -> None:
    response = api(owner_key).put(f"/v1/api/loops/{loop.pk}", change)
    refused(response, 400, "At least one field must be provided for update")


@pytest.mark.contract("body.empty_put")
@pytest.mark.parametrize("content_type", ["application/json", "", "text/plain"])
def test_an_empty_body_is_an_empty_object(owner_key: str, loop: Loop, content_type: str) -> None:
    path = f"/v1/api/loops/{loop.pk}"
    answer = send("PUT", path, f"Bearer {owner_key}", b"", content_type=content_type)
    refused(answer, 400, "At least one field must be provided for update")


@pytest.mark.contract("update_loop.denied", "auth.loop_rules")
def test_only_the_creator(api: Api, member_key: str, outsider_key: str, loop: Loop) -> None:
    for key in (member_key, outsider_key):
        response = api(key).put(f"/v1/api/loops/{loop.pk}", {"name": "Taken"})
        refused(response, 403, "Only loop creator can update the loop")
    assert Loop.objects.get(pk=loop.pk).name == loop.name


@pytest.mark.contract("update_loop.missing", "update_loop.malformed")
def test_ids(api: Api, owner_key: str) -> None:
    response = api(owner_key).put(f"/v1/api/loops/{NOWHERE}", {"name": "x"})
    refused(response, 404, "Loop not found")
    response = api(owner_key).put("/v1/api/loops/nonsense", {"name": "x"})
    refused(response, 400, "Invalid loop ID format")


def test_an_update_does_not_move_the_creation(api: Api, owner_key: str, loop: Loop) -> None:
    path = f"/v1/api/loops/{loop.pk}"
    shown = granted(api(owner_key).put(path, {"name": "x"}), UPDATED)["loop"]
    assert shown["created_at"] <= shown["updated_at"]
    assert Loop.objects.get(pk=loop.pk).created_at == loop.created_at
