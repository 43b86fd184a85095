"""`manage.py createapikey` and `createdemo`."""

import io

import pytest
from django.core.management import CommandError, call_command

from accounts.models import ApiKey, User
from tests.conftest import Api


def run(name: str, *arguments: str) -> str:
    out = io.StringIO()
    call_command(name, *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_createapikey_prints_the_key_alone_and_makes_the_account(db: None, api: type[Api]) -> None:
    key = run("createapikey", "New@example.com").removesuffix("\n")
    assert "\n" not in key
    data = api(key).get("/v1/test").json()["data"]
    assert data["email"] == "new@example.com"
    assert data["rate_limit"]["limit"] == 100
    assert len(data["permissions"]) == 4


def test_createapikey_takes_name_permissions_and_limit(owner: User, api: type[Api]) -> None:
    key = run(
        "createapikey", owner.email.upper(), "--name", "CI",
        "--permissions", "loops:read, requests:read", "--limit", "720",
    ).strip()  # fmt: skip
    data = api(key).get("/v1/test").json()["data"]
    assert data["user_id"] == owner.pk
    assert data["permissions"] == ["loops:read", "requests:read"]
    assert data["rate_limit"]["limit"] == 720
    assert ApiKey.objects.get().name == "CI"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nobody"], "is not an email address"),
        (["a@example.com", "--permissions", "loops:paint"], "is not one of: loops:read"),
        (["a@example.com", "--limit", "0"], "--limit must be"),
        (["a@example.com", "--name", " "], "--name must be"),
    ],
)
def test_createapikey_refuses_with_a_sentence(
    db: None, arguments: list[str], sentence: str
) -> None:
    with pytest.raises(CommandError, match=sentence):
        run("createapikey", *arguments)
    assert not User.objects.exists()


def test_createdemo_speaks_once(db: None, api: type[Api]) -> None:
    told = run("createdemo")
    key = next(line.split()[-1] for line in told.splitlines() if "API key" in line)
    assert api(key).get("/v1/test").status_code == 200
    assert f"curl -H 'Authorization: Bearer {key}' http://testserver/v1/test" in told
    assert run("createdemo") == ""
