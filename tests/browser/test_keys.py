"""Keys, the webhook secret and two-factor sign-in, as their holder uses them: on a phone, and at
a desk without scripts."""

import re
import time
from collections.abc import Iterator

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.sync_api import Browser, Page, expect
from pytest_django import Settings

from accounts.models import ApiKey, User
from accounts.secret_services import read_secrets
from accounts.services import create_account, create_api_key
from tests.browser.contexts import opened
from tests.browser.visitor import Visitor
from tests.conftest import PASSWORD, Api

WINDOWS = [("phone", True), ("desk", False)]
KEY = re.compile(r"rl_live_[0-9A-Za-z]{36}")


@pytest.fixture(params=WINDOWS, ids=["phone", "desk-without-scripts"])
def page(request: pytest.FixtureRequest, chromium: Browser, site: str) -> Iterator[Page]:
    size, scripts = request.param
    with opened(chromium, site, size=size, java_script_enabled=scripts) as context:
        yield context.new_page()


@pytest.fixture
def holder(transactional_db: None) -> User:
    return create_account(
        email="ada@example.com", name="Ada Jansen", password=PASSWORD, verified=True
    )


@pytest.fixture
def visitor(page: Page, holder: User) -> Visitor:
    return Visitor(page)


def sign_in(visitor: Visitor, path: str) -> None:
    """Opens a page, and comes to it by way of the sign-in page."""
    visitor.open(path)
    visitor.page.get_by_label("Email").fill("ada@example.com")
    visitor.page.get_by_label("Password").fill(PASSWORD)
    visitor.press("Sign in")


def code_of(seed: str, step: int = 0) -> str:
    """What an authenticator app would show."""
    return str(format_hotp_value(hotp_value(seed, int(time.time()) // 30 + step)))


def shown_key(visitor: Visitor) -> str:
    text = visitor.page.get_by_role("group", name="API key").inner_text()
    assert KEY.fullmatch(text)
    return text


def make_key(visitor: Visitor, name: str) -> str:
    visitor.page.get_by_label("Name").fill(name)
    visitor.page.get_by_label("Ask, cancel, and give feedback").uncheck()
    visitor.press("Create key")
    return shown_key(visitor)


def test_a_key_is_made_shown_once_and_rolled(visitor: Visitor, api: type[Api]) -> None:
    sign_in(visitor, "/dashboard/keys/")
    visitor.reads("No API keys yet")
    visitor.follow("New key")
    visitor.press("Create key")
    visitor.reads("Give the key a name")
    visitor.open("/dashboard/keys/new/")
    secret = make_key(visitor, "Refund bot")
    assert len(api(secret).get("/v1/test").json()["data"]["permissions"]) == 3

    visitor.page.reload()
    visitor.reads("A key is shown only once.")
    visitor.page.go_back()
    assert secret not in visitor.page.content()
    assert ApiKey.objects.count() == 1

    visitor.open(f"/dashboard/keys/{ApiKey.objects.get().pk}/")
    visitor.page.get_by_label("In 1 hour").check()
    visitor.press("Roll key")
    fresh = shown_key(visitor)
    assert fresh != secret
    visitor.press("I stored it")
    visitor.reads("Replaces")
    for each in (secret, fresh):
        assert api(each).get("/v1/test").status_code == 200
    visitor.page.go_back()
    assert fresh not in visitor.page.content()


def test_a_key_is_ended_by_its_name(visitor: Visitor, holder: User, api: type[Api]) -> None:
    key, secret = create_api_key(user=holder, name="Refund bot")
    api(secret).get("/v1/test")
    sign_in(visitor, f"/dashboard/keys/{key.pk}/")
    visitor.press("Deactivate")
    assert api(secret).get("/v1/test").status_code == 401
    visitor.press("Activate")
    assert api(secret).get("/v1/test").status_code == 200
    visitor.follow("Revoke")
    visitor.reads("It made 2 calls in the last 24 hours.")
    field = visitor.page.get_by_label("Type “Refund bot” to confirm")
    field.fill("refund")
    visitor.press("Revoke key")
    visitor.reads("The name doesn’t match.")
    expect(field).to_have_value("refund")
    field.fill("Refund bot")
    visitor.press("Revoke key")
    visitor.reads("Refund bot is revoked.")
    assert api(secret).get("/v1/test").status_code == 401


def test_the_secret_is_revealed_and_rotated(
    visitor: Visitor, holder: User, settings: Settings
) -> None:
    first = read_secrets(holder.pk).current.text
    sign_in(visitor, "/dashboard/webhook-secret/")
    assert first not in visitor.page.content()
    lately = settings.ACCOUNT_REAUTHENTICATION_TIMEOUT
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 0  # the sign-in was too long ago
    visitor.press("Reveal")
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = lately
    visitor.page.get_by_label("Password").fill(PASSWORD)
    visitor.press("Continue")
    visitor.reads(first)
    visitor.follow("Hide")
    assert first not in visitor.page.content()

    visitor.page.locator("summary", has_text="Rotate").click()
    visitor.press("Rotate secret")
    visitor.reads("Rotation in progress.")
    visitor.page.locator("summary", has_text="End old secret").click()
    visitor.press("End it")
    visitor.reads("The old secret no longer works.")
    assert read_secrets(holder.pk).previous is None

    visitor.page.get_by_label("Your secret").fill("short")
    visitor.press("Set secret")
    visitor.reads("this one has 5")
    visitor.page.get_by_label("Your secret").fill("a secret of my own")
    visitor.press("Set secret")
    visitor.reads("Set by you")
    assert read_secrets(holder.pk).current.text == "a secret of my own"


def test_two_factors_are_turned_on_and_asked_for(visitor: Visitor) -> None:
    page = visitor.page
    sign_in(visitor, "/dashboard/account/")
    visitor.follow("Two-factor sign-in")
    visitor.follow("Turn on")
    seed = page.get_by_role("group", name="secret").inner_text()
    page.get_by_label("Authenticator code").fill("000000")
    visitor.press("Turn on")
    visitor.reads("Incorrect code.")
    assert page.get_by_role("group", name="secret").inner_text() == seed
    page.get_by_label("Authenticator code").fill(code_of(seed))
    visitor.press("Turn on")
    codes = page.get_by_role("group", name="Recovery codes").inner_text().split()
    visitor.follow("I stored them")
    visitor.reads("10 left")

    page.context.clear_cookies()
    sign_in(visitor, "/dashboard/audit/")
    visitor.reads("Two-factor code")
    page.get_by_label("Code").fill(codes[3])
    visitor.press("Sign in")
    visitor.reads("turned two-factor sign-in on")
    assert page.url.endswith("/dashboard/audit/")


def test_the_audit_log_is_filtered(visitor: Visitor, holder: User) -> None:
    create_api_key(user=holder, name="Refund bot")
    sign_in(visitor, "/dashboard/audit/")
    visitor.reads("You signed in")
    visitor.page.get_by_label("About").select_option("key")
    visitor.press("Filter")
    visitor.reads("created the key Refund bot")
    expect(visitor.page.locator("tbody tr")).to_have_count(1)
    assert "kind=key" in visitor.page.url


def test_an_expired_session_returns_to_where_it_was(visitor: Visitor) -> None:
    sign_in(visitor, "/dashboard/keys/new/")
    visitor.page.context.clear_cookies()
    sign_in(visitor, "/dashboard/audit/?kind=key&who=me")
    expect(visitor.page.get_by_label("About")).to_have_value("key")
