"""What `reviewloop hook` masks, and what it leaves."""

from typing import Any

import pytest
from reviewloop.hooks.masks import _RULES, Masks, find_secrets

from tests.test_regular_expressions import Expression

LETTERS = "AbCdEfGh1234567890AbCdEfGh1234567890"


@pytest.mark.parametrize(
    "text",
    [
        "sk-ant-api03-{0}",
        "export X=ghp_{0}",
        "git clone https://{0}x@github.com/a/b",
        "github_pat_{0}",
        "glpat-{0}",
        "xoxb-{0}",
        "npm_{0}",
        "pypi-{0}",
        "hf_{0}",
        "sk_live_{0}",
        "rl_live_{0}",
        "whsec_{0}",
        "AKIAABCDEFGH12345678",
        "AIza{0}",
        "SG.{0}.{0}",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{0}",
        "curl -H 'Authorization: Bearer {0}'",
        'curl -H "Authorization: {0}"',
        "curl -u x -H 'authorization:Basic {0}'",
        "psql postgres://ada:{0}@db/shop",
        "PGPASSWORD={0} psql",
        'DB_PASSWORD="{0}" make',
        "client_secret: '{0}'",
        '{{"api_key": "{0}"}}',
        "access-key: {0}",
        "tool --token {0} --dry-run",
        "tool --db-password '{0}'",
        "-----BEGIN RSA PRIVATE KEY-----\n{0}\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n{0}",
        "export API_KEY=sk-ant-api03-{0}",  # by two rules
        'export SECRET="as sk-ant-api03-{0}, {0}"',  # of which one masks more
        "rl_review_{0}",
        "GOCSPX-{0}",
        "xapp-1-{0}",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n{0}",
        "[default]\naws_secret_access_key = {0}",
        "aws configure set aws_secret_access_key {0}",
        "[client]\npassword = {0}",
        'curl -d "{{\\"password\\":\\"{0}\\"}}" http://x',
        "{{'Authorization' : '{0}'}}",
        'token := "{0}"',
        "'password' => '{0}'",
        "psql postgres://app:p@{0}@db/x",
        "psql postgres://app:ab:{0}@db/x",
        'PASSWORD="ab\\"{0}" make',
        "PASSWORD=abcd\\|{0} make",
        "PASSWORD=abcd,{0} make",
        "PASSWORD=$ecret-{0} make",
    ],
)
def test_a_secret_is_masked(text: str) -> None:
    secret = text.format(LETTERS)
    masks = Masks(secret)
    hidden = masks.hide({"command": f"a {secret} b"})
    assert LETTERS not in hidden["command"]
    assert "AKIAABCDEFGH" not in hidden["command"]
    assert "[masked 1]" in hidden["command"]
    assert masks.restore(hidden) == {"command": f"a {secret} b"}


@pytest.mark.parametrize("text", ["password: {0}", "  - db_password: {0}", "-H 'X-Api-Key: {0}'"])
def test_a_secret_without_a_digit_is_masked(text: str) -> None:
    secret = "correcthorsebatterystaple"
    assert secret not in Masks({}).hide(text.format(secret))


@pytest.mark.parametrize(
    "text",
    [
        "password = read_password(prompt)",
        "PASSWORD=${SECRET} make && TOKEN=$(cat token) ls",
        "rm -rf build && make -j4 test",
        "git commit -m 'Mask tokens in what is sent'",
        'curl -H "Authorization: Bearer $TOKEN" https://example.com:8443/a?b=c',
        "PASSWORD=$SECRET make",
        'PASSWORD="$SECRET" make',
        "def f(token: str, password: Optional[str] = None) -> None:",
        "max_tokens: 4096",
        "ls ask-about-this-long-name sk-short",
        "http://127.0.0.1:8000/v1",
        "3f786850e387550fdab836ed7e6dc881de23001b",
    ],
)
def test_the_rest_stays(text: str) -> None:
    assert find_secrets(text) == []


@pytest.mark.parametrize("name", ["password", "API_KEY", "db_password", "authorization", "apiKey"])
def test_a_field_with_the_name_of_a_secret_is_masked(name: str) -> None:
    masks = Masks({})
    rest = {"n": 1, "token": "$T", "secret": ""}
    given: dict[str, Any] = {name: "short", "deep": [{name: "x y"}], **rest}
    hidden = masks.hide(given)
    assert hidden == {name: "[masked 1]", "deep": [{name: "[masked 2]"}], **rest}
    assert masks.restore(hidden) == given


def test_a_secret_as_a_name_is_masked() -> None:
    masks = Masks({})
    given = {"env": {f"ghp_{LETTERS}": 1}}
    hidden = masks.hide(given)
    assert hidden == {"env": {"[masked 1]": 1}}
    assert masks.restore(hidden) == given


def test_the_same_value_has_the_same_mask() -> None:
    masks = Masks({})
    hidden = masks.hide([f"ghp_{LETTERS}", f"npm_{LETTERS}", f"ghp_{LETTERS}"])
    assert hidden == ["[masked 1]", "[masked 2]", "[masked 1]"]


def test_a_text_that_looks_like_a_mask_stays_as_it_is() -> None:
    given = ["[masked 1]", "[masked 7]", f"ghp_{LETTERS}"]
    masks = Masks(given)
    hidden = masks.hide(given)
    assert hidden == ["[masked 1]", "[masked 7]", "[masked 8]"]
    assert masks.restore(hidden) == given


@pytest.mark.parametrize(
    "given",
    [
        {"password": 12345678},
        {"password": ["short", 4711]},
        {"password": "$ecret-4711"},
        {"args": ["--token", "short"]},
        {"headers": [{"name": "Authorization", "value": "short"}]},
        {"env": [{"key": "API_KEY", "value": "short"}]},
        {"headers": [["Authorization", "short"]]},
        {"password": {"value": "short"}},
    ],
)
def test_a_value_that_its_name_calls_a_secret_is_masked(given: dict[str, Any]) -> None:
    masks = Masks(given)
    hidden = str(masks.hide(given))
    assert not any(part in hidden for part in ("short", "4711", "12345678"))
    assert masks.restore(masks.hide(given)) == given


def test_a_value_that_is_found_once_is_masked_everywhere() -> None:
    given = {"command": f"TOKEN={LETTERS} make && curl -u ada:{LETTERS} x", "to": LETTERS}
    masks = Masks(given)
    hidden = masks.hide(given)
    assert hidden == {"command": "TOKEN=[masked 1] make && curl -u ada:[masked 1] x",
                      "to": "[masked 1]"}  # fmt: skip
    assert masks.restore(hidden) == given


@pytest.mark.parametrize(
    "given",
    [
        {"command": "TOKEN=abcdefgh PASSWORD=abcdefghREST99 x", "to": "abcdefghREST99"},
        {"command": 'A_TOKEN=abcdefghijk PASSWORD="masked 1" make'},
    ],
    ids=["part of another one", "part of a mask"],
)
def test_a_found_value_that_is_a_part_of_another_text(given: dict[str, Any]) -> None:
    masks = Masks(given)
    hidden = masks.hide(given)
    assert "abcdefgh" not in str(hidden)
    assert "REST99" not in str(hidden)
    assert masks.restore(hidden) == given


def test_a_few_masks_are_named() -> None:
    masks = Masks({})
    masks.hide("".join(f"TOKEN=abcdefgh{number:04d} " for number in range(300)))
    assert "[masked 10] and 290 more." in masks.describe()
    assert len(masks.describe()) < 400


@pytest.mark.parametrize("rule", _RULES, ids=range(len(_RULES)))
def test_a_rule_takes_time_in_proportion_to_its_text(rule: Any) -> None:
    expression = Expression("masks", rule, is_anchored=False)
    for prefix, pump in expression.pumps():
        expression.check(prefix, pump)
