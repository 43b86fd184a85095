"""Who may join a loop, as an API client reads and sets it; the fields are ours, and optional."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress

from accounts.models import User
from loops.models import Loop
from tests.api.wire import Api, body_of, granted, refused

pytestmark = pytest.mark.django_db

CREATED, UPDATED = "Loop created successfully with QR code", "Loop updated successfully"
BODY = {"name": "Refunds", "icon": "star"}
NO_DOMAINS = "allowed_domains must be an array of at most 20 domains, such as example.com"


def test_a_loop_at_its_default_does_not_mention_it(api: Api, owner_key: str) -> None:
    """Published clients see what they always saw."""
    loop = granted(api(owner_key).post("/v1/api/loops", BODY), CREATED, 201)["loop"]
    assert not {"require_verified", "allowed_domains"} & set(loop)
    body = {**BODY, "require_verified": True, "allowed_domains": []}
    loop = granted(api(owner_key).post("/v1/api/loops", body), CREATED, 201)["loop"]
    assert not {"require_verified", "allowed_domains"} & set(loop)


def test_create_and_read(api: Api, owner_key: str) -> None:
    body = {**BODY, "require_verified": False, "allowed_domains": ["Example.org", "@example.com"]}
    loop = granted(api(owner_key).post("/v1/api/loops", body), CREATED, 201)["loop"]
    assert loop["require_verified"] is False
    assert loop["allowed_domains"] == ["example.com", "example.org"]
    path = f"/v1/api/loops/{loop['id']}"
    shown = granted(api(owner_key).get(path), "Loop retrieved successfully")["loop"]
    assert shown == {**shown, **loop}


def test_update(api: Api, owner_key: str, loop: Loop) -> None:
    path = f"/v1/api/loops/{loop.pk}"
    for change in ({"require_verified": False}, {"allowed_domains": ["example.org"]}):
        shown = granted(api(owner_key).put(path, change), UPDATED)["loop"]
        assert shown == {**shown, **change}
    back = {"require_verified": True, "allowed_domains": []}
    shown = granted(api(owner_key).put(path, back), UPDATED)["loop"]
    assert not set(back) & set(shown)
    refused(
        api(owner_key).put(path, {"require_verified": None}),
        400,
        "At least one field must be provided for update",
    )


@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        ({"require_verified": "yes"}, "require_verified must be a boolean"),
        ({"require_verified": 1}, "require_verified must be a boolean"),
        ({"allowed_domains": "example.org"}, "allowed_domains must be an array of strings"),
        ({"allowed_domains": [1]}, "allowed_domains must be an array of strings"),
        ({"allowed_domains": ["nora@example.org"]}, NO_DOMAINS),
        ({"allowed_domains": [""]}, NO_DOMAINS),
        ({"allowed_domains": [f"d{number}.org" for number in range(21)]}, NO_DOMAINS),
    ],
)
def test_what_they_do_not_take(
    api: Api, owner_key: str, loop: Loop, fault: dict[str, Any], detail: str
) -> None:
    path = f"/v1/api/loops/{loop.pk}"
    refused(api(owner_key).put(path, fault), 400, "Validation failed", detail)
    refused(
        api(owner_key).post("/v1/api/loops", {**BODY, **fault}), 400, "Validation failed", detail
    )


def test_members_say_whether_their_address_is_confirmed(
    api: Api, owner_key: str, member: User, loop: Loop
) -> None:
    def shown() -> dict[str, bool]:
        single = body_of(api(owner_key).get(f"/v1/api/loops/{loop.pk}"))["data"]["loop"]
        listed = body_of(api(owner_key).get(f"/v1/api/loops/{loop.pk}/members"))["data"]["members"]
        (every,) = body_of(api(owner_key).get("/v1/api/loops"))["data"]["loops"]
        assert single["members"] == listed == every["members"]
        return {entry["email"]: entry["verified"] for entry in listed}

    assert shown() == {"owner@example.com": True, "member@example.com": True}
    EmailAddress.objects.filter(user=member).update(verified=False)
    EmailAddress.objects.create(user=member, email="other@example.com", verified=True)
    assert shown() == {"owner@example.com": True, "member@example.com": False}
