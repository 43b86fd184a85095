"""The commands of `manage.py` that are about one account."""

import io
import json
from collections.abc import Callable

import pytest
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from django.core.management import CommandError, call_command

from accounts.models import ApiKey, User
from accounts.secret_services import read_secrets
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


def test_createapikey_makes_the_account_of_an_address_that_another_mistyped(
    owner: User, api: type[Api]
) -> None:
    """An account that has confirmed another address loses it, as when somebody confirms it."""
    User.objects.filter(pk=owner.pk).update(email="nora@example.org")
    key = run("createapikey", "nora@example.org").removesuffix("\n")
    owner.refresh_from_db()
    assert owner.email == "owner@example.com"
    assert api(key).get("/v1/test").json()["data"]["email"] == "nora@example.org"


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


def test_a_deactivated_account_gets_no_key(owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(is_active=False)
    with pytest.raises(CommandError, match=f"The account {owner.email} is deactivated"):
        run("createapikey", owner.email)
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize(
    "command",
    ["createapikey", "webhooksecret", "makeoperator", "passwordlink", "exportperson"],
)
def test_every_confirmed_address_names_its_account(
    owner: User, member: User, command: str, api: type[Api]
) -> None:
    """Also one with which somebody else has signed up, who cannot confirm it any more."""
    EmailAddress.objects.create(user=owner, email="further@example.com", verified=True)
    User.objects.filter(pk=member.pk).update(email="further@example.com")
    printed = run(command, " Further@example.com").strip()
    owner.refresh_from_db()
    owners: dict[str, Callable[[], bool]] = {
        "createapikey": lambda: api(printed).get("/v1/test").json()["data"]["user_id"] == owner.pk,
        "webhooksecret": lambda: printed == read_secrets(owner.pk).current.text,
        "makeoperator": lambda: owner.is_staff,
        "passwordlink": lambda: f"/{user_pk_to_url_str(owner)}-" in printed,
        "exportperson": lambda: json.loads(printed)["account"]["id"] == owner.pk,
    }
    assert owners[command]()


def test_two_links_at_once_make_one_account(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one has made it since this one looked."""
    place = "signin.management.commands.passwordlink.find_holder"
    monkeypatch.setattr(place, lambda email: None)
    assert f"/{user_pk_to_url_str(owner)}-" in run("passwordlink", owner.email, "--create")


@pytest.mark.parametrize(
    "command", ["webhooksecret", "makeoperator", "passwordlink", "exportperson"]
)
def test_an_address_of_nobody(db: None, command: str) -> None:
    with pytest.raises(CommandError, match=r"There is no account 'nobody@example\.com'"):
        run(command, "nobody@example.com")


def test_createdemo_speaks_once(db: None, api: type[Api]) -> None:
    told = run("createdemo")
    key = next(line.split()[-1] for line in told.splitlines() if "API key" in line)
    assert api(key).get("/v1/test").status_code == 200
    assert f"curl -H 'Authorization: Bearer {key}' http://testserver/v1/test" in told
    assert run("createdemo") == ""


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("typed", "refusal"), [("whsec_abcdefgh", "start with whsec_"), ("my\u200bsecret", "invisible")]
)
def test_a_pasted_secret_that_would_not_verify_is_refused(
    owner: User, typed: str, refusal: str
) -> None:
    with pytest.raises(CommandError, match=refusal):
        run("webhooksecret", owner.email, "--set", typed)


@pytest.mark.django_db
def test_a_pasted_secret_loses_what_stands_around_it(owner: User) -> None:
    assert run("webhooksecret", owner.email, "--set", "\u200b my secret \ufeff") == "my secret\n"
