"""The Authorization header, and the life of a key."""

import hashlib
import re
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from accounts.models import ApiKey, User
from accounts.services import create_api_key, set_key_state
from tests.api.wire import Api, body_of, granted, refused, send

pytestmark = pytest.mark.django_db


@pytest.mark.contract("auth.missing", "auth.required", "auth.format", "auth.empty", "auth.bearer")
@pytest.mark.parametrize(
    ("authorization", "msg"),
    [
        (None, "Missing Authorization header"),
        ("", "API key required"),
        ("Bearer", "Empty API key"),
        ("Bearer ", "Empty API key"),
        ("{key}", "Invalid Authorization header format. Use 'Bearer <api_key>'"),
        ("Token {key}", "Invalid Authorization header format. Use 'Bearer <api_key>'"),
        ("Basic {key}", "Invalid Authorization header format. Use 'Bearer <api_key>'"),
        ("Bearer{key}", "Invalid Authorization header format. Use 'Bearer <api_key>'"),
        ("Bearer:{key}", "Invalid Authorization header format. Use 'Bearer <api_key>'"),
        ("Bearer {key} {key}", "Invalid Authorization header format. Use 'Bearer <api_key>'"),
        ('Bearer "{key}"', "Invalid API key"),
        ("Bearer x", "Invalid API key"),
        ("Bearer {key}x", "Invalid API key"),
        ("Bearer \u00e9\u00ff", "Invalid API key"),
        ("Bearer \u00c3\u00a0", "Invalid API key"),  # the bytes of à, of which one is a blank
        ("\u00a0", "Invalid Authorization header format. Use 'Bearer <api_key>'"),
        ("Bearer " + "a" * 5000, "Invalid API key"),
        ("Bearer '; DROP", "Invalid Authorization header format. Use 'Bearer <api_key>'"),
    ],
)
def test_headers(owner_key: str, authorization: str | None, msg: str) -> None:
    header = authorization and authorization.format(key=owner_key)
    refused(send("GET", "/v1/test", header), 401, msg)


@pytest.mark.contract("auth.key_form")
def test_the_form_of_a_key(owner: User) -> None:
    _, secret = create_api_key(user=owner, name="one", permissions=[])
    assert re.fullmatch(r"rl_live_[0-9A-Za-z]{36}", secret)
    _, other = create_api_key(user=owner, name="two", permissions=[])
    assert secret != other


@pytest.mark.contract("auth.key_digest")
def test_a_key_is_kept_as_its_digest(owner: User) -> None:
    key, secret = create_api_key(user=owner, name="one", permissions=[])
    kept = ApiKey.objects.get(pk=key.pk)
    assert bytes(kept.digest) == hashlib.sha256(secret.encode()).digest()
    assert kept.last_four == secret[-4:]
    assert secret.startswith(kept.prefix)
    assert len(kept.prefix) <= 12


@pytest.mark.contract("auth.invalid", "auth.key_form")
def test_a_key_with_one_wrong_character(owner_key: str) -> None:
    for place in (10, len(owner_key) - 1):
        wrong = "a" if owner_key[place] != "a" else "b"
        mistyped = owner_key[:place] + wrong + owner_key[place + 1 :]
        refused(send("GET", "/v1/test", f"Bearer {mistyped}"), 401, "Invalid API key")


@pytest.mark.contract("auth.inactive", "auth.invalid", "auth.key_states")
def test_the_life_of_a_key(api: Api, owner: User) -> None:
    key, secret = create_api_key(user=owner, name="one", permissions=[])
    states = ApiKey.State
    granted(api(secret).get("/v1/test"), "API key is valid")
    set_key_state(key=key, state=states.INACTIVE)
    refused(api(secret).get("/v1/test"), 401, "API key is inactive")
    set_key_state(key=key, state=states.ACTIVE)
    granted(api(secret).get("/v1/test"), "API key is valid")
    set_key_state(key=key, state=states.REVOKED)
    refused(api(secret).get("/v1/test"), 401, "API key is inactive")
    with pytest.raises(ValueError, match="revoked for good"):
        set_key_state(key=key, state=states.ACTIVE)
    set_key_state(key=key, state=states.DELETED)
    refused(api(secret).get("/v1/test"), 401, "Invalid API key")


@pytest.mark.contract("auth.inactive")
def test_an_expired_key(api: Api, owner: User) -> None:
    now = timezone.now()
    past, future = now - timedelta(seconds=1), now + timedelta(hours=1)
    _, expired = create_api_key(user=owner, name="old", permissions=[], expires_at=past)
    _, running = create_api_key(user=owner, name="new", permissions=[], expires_at=future)
    refused(api(expired).get("/v1/test"), 401, "API key is inactive")
    granted(api(running).get("/v1/test"), "API key is valid")


@pytest.mark.contract("quota.keyless_headers", "quota.headers")
@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer x", "Basic x"])
def test_the_headers_without_a_valid_key(header: str | None) -> None:
    answer = send("GET", "/v1/api/loops", header)
    assert body_of(answer)["error"] is True
    assert (answer["X-RateLimit-Limit"], answer["X-RateLimit-Remaining"]) == ("100", "0")
    assert int(answer["X-RateLimit-Reset"]) % 3600 == 0


@pytest.mark.contract("quota.failed_keys")
def test_failed_keys_never_touch_a_valid_one(api: Api, owner_key: str, settings: Settings) -> None:
    settings.FAILED_KEY_RATE = "3/h"
    for _ in range(3):
        refused(api("wrong").get("/v1/test"), 401, "Invalid API key")
    response = api("wrong").get("/v1/test")
    assert (response.status_code, body_of(response)["error"]) == (429, True)
    assert int(response["Retry-After"]) >= 1
    granted(api(owner_key).get("/v1/test"), "API key is valid")


@pytest.mark.contract("quota.failed_keys")
def test_failed_keys_have_a_thousand_a_minute(settings: Settings) -> None:
    assert settings.FAILED_KEY_RATE == "1000/m"
