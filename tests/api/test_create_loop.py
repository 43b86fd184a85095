"""POST /api/loops."""

import base64
import io
import re
from typing import Any

import pytest
import zxingcpp
from django.conf import settings
from django.test import Client
from PIL import Image

from accounts.models import User
from loops.models import Loop
from tests.api.bodies import LOOP, without
from tests.api.wire import ID, TIME, Api, granted, refused, refused_at

pytestmark = pytest.mark.django_db

CREATED = "Loop created successfully with QR code"


@pytest.mark.contract(
    "create_loop.loop",
    "create_loop.msg",
    "http.codes",
    "loop.id",
    "loop.creator_id",
    "loop.members",
    "loop.member_count",
    "loop.pending_count",
    "loop.created_at",
    "loop.updated_at",
    "loop.creator_active",
    "envelope.ids",
    "member.user_id",
    "member.email",
)
def test_it_answers_with_the_loop(api: Api, owner: User, owner_key: str) -> None:
    data = granted(api(owner_key).post("/v1/api/loops", LOOP), CREATED, status=201)
    assert set(data) == {"loop", "invite_code", "qr_code_base64", "qr_code_url", "join_url"}
    loop = data["loop"]
    member = loop["members"][0]
    assert loop == {
        "id": loop["id"],
        "name": "Editors",
        "description": "They decide.",
        "icon": "edit",
        "creator_id": owner.pk,
        "members": [
            {
                "user_id": owner.pk,
                "email": owner.email,
                "status": "active",
                "joined_at": member["joined_at"],
                "verified": True,
            }
        ],
        "member_count": 1,
        "pending_count": 0,
        "created_at": loop["created_at"],
        "updated_at": loop["updated_at"],
    }
    assert ID.fullmatch(loop["id"])
    for moment in (loop["created_at"], loop["updated_at"], member["joined_at"]):
        assert TIME.fullmatch(moment)


@pytest.mark.contract(
    "create_loop.invite_code",
    "create_loop.qr_code_base64",
    "create_loop.qr_code_url",
    "create_loop.join_url",
    "invite.code",
)
def test_it_hands_out_an_invitation(api: Api, owner_key: str) -> None:
    data = granted(api(owner_key).post("/v1/api/loops", LOOP), CREATED, status=201)
    code = data["invite_code"]
    site = settings.SITE_URL.rstrip("/")
    assert re.fullmatch(r"[0-9A-Za-z-]{10,}", code)
    assert data["join_url"] == f"{site}/join/{code}"
    assert data["qr_code_url"] == f"{site}/qr/{code}.png"
    prefix, _, encoded = data["qr_code_base64"].partition(",")
    assert prefix == "data:image/png;base64"
    assert _read_qr(base64.b64decode(encoded, validate=True)) == data["join_url"]
    picture = Client().get(f"/qr/{code}.png")
    assert (picture.status_code, picture["Content-Type"]) == (200, "image/png")
    assert _read_qr(picture.content) == data["join_url"]


def _read_qr(png: bytes) -> str:
    with Image.open(io.BytesIO(png)) as image:
        codes = zxingcpp.read_barcodes(image.convert("L"))
    assert len(codes) == 1
    return str(codes[0].text)


@pytest.mark.contract("create_loop.name", "loop.name", "body.code_points")
@pytest.mark.parametrize("name", ["x", "x" * 100, "😀" * 100, " padded ", "e\u0301", "<b>"])
def test_names_it_takes(api: Api, owner_key: str, name: str) -> None:
    response = api(owner_key).post("/v1/api/loops", {**LOOP, "name": name})
    assert granted(response, CREATED, status=201)["loop"]["name"] == name


@pytest.mark.contract("create_loop.name_required", "body.blank")
@pytest.mark.parametrize("name", [None, "", " ", "\n\t ", "\u3000"])
def test_a_name_is_required(api: Api, owner_key: str, name: str | None) -> None:
    response = api(owner_key).post("/v1/api/loops", {**LOOP, "name": name})
    refused(response, 400, "Loop name is required")
    refused(api(owner_key).post("/v1/api/loops", {}), 400, "Loop name is required")
    assert not Loop.objects.exists()


@pytest.mark.contract("create_loop.icon_required")
@pytest.mark.parametrize("icon", [None, "", "  "])
def test_an_icon_is_required(api: Api, owner_key: str, icon: str | None) -> None:
    response = api(owner_key).post("/v1/api/loops", {**LOOP, "icon": icon})
    refused(response, 400, "Loop icon is required")
    response = api(owner_key).post("/v1/api/loops", without(LOOP, "icon"))
    refused(response, 400, "Loop icon is required")


@pytest.mark.contract("create_loop.icon", "loop.icon")
@pytest.mark.parametrize("icon", ["heart", "anything at all", "x" * 100])
def test_icons_it_takes(api: Api, owner_key: str, icon: str) -> None:
    response = api(owner_key).post("/v1/api/loops", {**LOOP, "icon": icon})
    assert granted(response, CREATED, status=201)["loop"]["icon"] == icon


@pytest.mark.contract("create_loop.description", "loop.description", "body.untrimmed")
@pytest.mark.parametrize("description", ["", " ", "y" * 500, "😀" * 500, " kept \n"])
def test_descriptions_it_takes(api: Api, owner_key: str, description: str) -> None:
    response = api(owner_key).post("/v1/api/loops", {**LOOP, "description": description})
    assert granted(response, CREATED, status=201)["loop"]["description"] == description


@pytest.mark.contract("loop.description")
def test_an_absent_description_is_empty(api: Api, owner_key: str) -> None:
    response = api(owner_key).post("/v1/api/loops", without(LOOP, "description"))
    assert granted(response, CREATED, status=201)["loop"]["description"] == ""


@pytest.mark.contract("create_loop.name", "create_loop.icon", "body.types", "body.details")
@pytest.mark.parametrize(
    ("field", "value", "detail"),
    [
        ("name", "x" * 101, "name must be between 1 and 100 characters"),
        ("name", 5, "name must be a string"),
        ("name", ["x"], "name must be a string"),
        ("name", True, "name must be a string"),
        ("description", "x" * 501, "description must be at most 500 characters"),
        ("description", 5, "description must be a string"),
        ("description", {}, "description must be a string"),
        ("icon", "x" * 101, "icon must be between 1 and 100 characters"),
        ("icon", 5, "icon must be a string"),
        ("icon", False, "icon must be a string"),
    ],
)
def test_what_it_does_not_take(
    api: Api, owner_key: str, field: str, value: Any, detail: str
) -> None:
    response = api(owner_key).post("/v1/api/loops", {**LOOP, field: value})
    refused(response, 400, "Validation failed", detail)
    assert not Loop.objects.exists()


@pytest.mark.contract("http.first_fault")
def test_the_first_fault_wins(api: Api, owner_key: str) -> None:
    faults = {"name": "x" * 101, "description": 5, "icon": ""}
    response = api(owner_key).post("/v1/api/loops", faults)
    refused(response, 400, "Validation failed", "name must be between 1 and 100 characters")
    response = api(owner_key).post("/v1/api/loops", {**faults, "name": "x"})
    refused(response, 400, "Validation failed", "description must be a string")
    response = api(owner_key).post("/v1/api/loops", {**faults, "name": "x", "description": ""})
    refused(response, 400, "Loop icon is required")


@pytest.mark.contract("create_loop.invalid_body")
@pytest.mark.parametrize("body", [[], [LOOP], "name", 5, True])
def test_a_body_is_an_object(api: Api, owner_key: str, body: Any) -> None:
    refused_at(api(owner_key).post("/v1/api/loops", body), "Invalid request body", "JSON object")


@pytest.mark.contract("body.unknown_fields")
def test_unknown_fields_are_ignored(api: Api, owner_key: str) -> None:
    body = {**LOOP, "tags": ["a"], "creator_id": "0" * 24, "id": "f" * 24, "members": 3}
    loop = granted(api(owner_key).post("/v1/api/loops", body), CREATED, status=201)["loop"]
    assert loop["member_count"] == 1
    assert loop["id"] != "f" * 24
    assert loop["creator_id"] != "0" * 24


@pytest.mark.contract("invite.code", "invite.unlimited")
def test_codes_differ(api: Api, plenty: str) -> None:
    codes = {
        granted(api(plenty).post("/v1/api/loops", LOOP), CREATED, status=201)["invite_code"]
        for _ in range(30)
    }
    assert len(codes) == 30
    assert not set("".join(codes)) & set("0O1Il")
