"""GET /test: the key's account, its permissions, and its remaining quota."""

import pytest

from accounts.models import ApiKey, User
from accounts.services import create_api_key
from tests.api.wire import ID, TIME, Api, granted, refused

pytestmark = pytest.mark.django_db


@pytest.mark.contract(
    "test.api_key_id", "test.user_id", "test.email", "test.account_status", "test.permissions"
)
def test_it_tells_whose_key_it_is(api: Api, owner: User) -> None:
    key, secret = create_api_key(user=owner, name="one", permissions=["requests:read"])
    data = granted(api(secret).get("/v1/test"), "API key is valid")
    del data["rate_limit"]
    assert data == {
        "api_key_id": key.pk,
        "user_id": owner.pk,
        "email": owner.email,
        "account_status": "active",
        "permissions": ["requests:read"],
    }
    assert ID.fullmatch(data["api_key_id"])
    assert ID.fullmatch(data["user_id"])


@pytest.mark.contract("test.rate_limit", "envelope.times")
@pytest.mark.usefixtures("steady_hour")
def test_it_tells_what_is_left(api: Api, owner_key: str) -> None:
    response = api(owner_key).get("/v1/test")
    rest = granted(response, "API key is valid")["rate_limit"]
    assert set(rest) == {"limit", "remaining", "reset_at"}
    assert (rest["limit"], rest["remaining"]) == (100, 99)
    assert TIME.fullmatch(rest["reset_at"])
    assert rest["reset_at"].endswith(":00:00.000Z")


@pytest.mark.contract("auth.test_free", "test.msg")
def test_it_needs_no_permission(api: Api, owner: User) -> None:
    _, secret = create_api_key(user=owner, name="bare", permissions=[])
    assert granted(api(secret).get("/v1/test"), "API key is valid")["permissions"] == []


@pytest.mark.contract("auth.account_inactive", "test.account_status")
def test_it_says_that_the_account_is_inactive(api: Api, owner: User, owner_key: str) -> None:
    User.objects.filter(pk=owner.pk).update(is_active=False)
    data = granted(api(owner_key).get("/v1/test"), "API key is valid")
    assert data["account_status"] == "inactive"


@pytest.mark.contract("test.failures", "status.401", "status.429")
def test_it_fails_with_401_and_429(api: Api, owner: User) -> None:
    refused(api("rl_live_nonsense").get("/v1/test"), 401, "Invalid API key")
    _, secret = create_api_key(user=owner, name="one", permissions=[], hourly_limit=1)
    granted(api(secret).get("/v1/test"), "API key is valid")
    response = api(secret).get("/v1/test")
    assert (response.status_code, ApiKey.objects.filter(user=owner).exists()) == (429, True)
