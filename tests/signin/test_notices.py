"""The emails about changes that somebody else could have made."""

from collections.abc import Callable
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP
from django.core import mail
from django.core.management import call_command
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from accounts.models import User
from accounts.notices import HEADLINES
from accounts.operator_services import end_two_factor
from tests.accounts.test_audit import SEED, code_now
from tests.conftest import PASSWORD
from tests.portal import signed_in, unconfirmed
from tests.signin.test_confirming import (
    Change,
    add_address,
    make_primary,
    new_key,
    new_review_token,
    remove_address,
    reveal,
    roll,
    rotate,
    set_secret,
)

pytestmark = pytest.mark.django_db
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
OTHER = "second@example.com"
ALL = [["owner@example.com"], [OTHER]]
SAID = "account.email_added", "account.email_removed", "account.email_changed"
MADE_BY: list[tuple[str, Change]] = [
    ("key.created", new_key),
    ("key.rolled", roll),
    ("review_token.created", new_review_token),
    ("webhook_secret.revealed", reveal),
    ("webhook_secret.set", set_secret),
    ("webhook_secret.rotated", rotate),
    ("account.email_added", add_address),
    ("account.email_removed", remove_address),
    ("account.email_changed", make_primary),
]


@pytest.fixture
def person(owner: User) -> User:
    """Has two confirmed addresses, and one that is not."""
    EmailAddress.objects.create(user=owner, email=OTHER, verified=True)
    EmailAddress.objects.create(user=owner, email="unproved@example.com")
    return owner


@pytest.fixture
def told(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> Callable[[Callable[[], Any]], list[Any]]:
    """The notices that an action sends."""

    def run(action: Callable[[], Any]) -> list[Any]:
        mail.outbox.clear()
        with django_capture_on_commit_callbacks(execute=True):
            action()
        return [each for each in mail.outbox if "If this was you" in str(each.body)]

    return run


Told = Callable[[Callable[[], Any]], list[Any]]


@pytest.mark.parametrize(("action", "change"), MADE_BY)
def test_a_change_goes_to_every_confirmed_address(
    person: User, told: Told, action: str, change: Change
) -> None:
    browser = signed_in(person, headers={"user-agent": FIREFOX}, REMOTE_ADDR="192.0.2.7")
    path, form = change(browser, person)

    def act() -> None:
        browser.post(path, form)
        if change is reveal:
            browser.get("/dashboard/webhook-secret/")

    messages = told(act)
    addresses = [each.to for each in messages]
    if action == "account.email_removed":
        assert addresses.pop() == ["old@example.org"]
    if action == "account.email_changed":
        assert addresses.pop() == ["old@example.org"]
    assert addresses == ALL
    for each in messages:
        assert each.subject == f"Review Loop: {HEADLINES[action]}"
        assert "Browser: Firefox on Linux\nIP address: 192.0.2.7\n" in each.body
        assert "http://testserver/accounts/password/reset/" in each.body
    if action.startswith("account."):
        assert "example.org." in messages[0].body
    if action == "key.created":
        assert "An API key was created: Bot (rl_live_" in messages[0].body


def test_the_same_form_twice_is_told_once(person: User, told: Told) -> None:
    browser = signed_in(person)
    path, form = new_key(browser, person)
    assert len(told(lambda: [browser.post(path, form) for _ in range(2)])) == 2  # two addresses


def test_passwords(person: User, told: Told) -> None:
    form = {"oldpassword": PASSWORD, "password1": "another long one"}
    form["password2"] = form["password1"]
    messages = told(lambda: signed_in(person).post("/accounts/password/change/", form))
    assert [each.to for each in messages] == ALL
    assert messages[0].subject == "Review Loop: Your password was changed"


def test_two_factor_sign_in(person: User, told: Told) -> None:
    EmailAddress.objects.filter(email="unproved@example.com").delete()
    TOTP.activate(person, SEED)
    browser = signed_in(person)
    codes = told(lambda: browser.post("/accounts/2fa/recovery-codes/generate/"))
    assert codes[0].subject == "Review Loop: New recovery codes were created"
    off = told(lambda: browser.post("/accounts/2fa/totp/deactivate/"))
    assert [each.to for each in off] == ALL
    assert off[0].subject == "Review Loop: Two-factor sign-in was turned off"


class TestNewBrowsers:
    def sign_in(self, browser: Client, password: str = PASSWORD) -> Any:
        form = {"login": "owner@example.com", "password": password}
        return browser.post("/accounts/login/", form)

    def test_the_first_sign_in_of_a_browser(self, person: User, told: Told) -> None:
        browser = Client()
        messages = told(lambda: self.sign_in(browser))
        assert [each.to for each in messages] == ALL
        assert messages[0].subject == "Review Loop: A new browser signed in to your account"
        browser.post("/accounts/logout/")
        assert told(lambda: self.sign_in(browser)) == []

    def test_one_that_signed_in_to_another_account(
        self, person: User, outsider: User, told: Told
    ) -> None:
        browser = Client()
        form = {"login": outsider.email, "password": PASSWORD}
        browser.post("/accounts/login/", form)
        browser.post("/accounts/logout/")
        assert [each.to for each in told(lambda: self.sign_in(browser))] == ALL

    def test_only_a_complete_sign_in(self, person: User, told: Told) -> None:
        TOTP.activate(person, SEED)
        browser = Client()
        assert told(lambda: self.sign_in(browser, "wrong")) == []
        assert told(lambda: self.sign_in(browser)) == []
        form = {"code": code_now()}
        assert told(lambda: browser.post("/accounts/2fa/authenticate/", form))

    def test_not_signing_up(self, told: Told, settings: Settings) -> None:
        def sign_up() -> None:
            browser = Client()
            form = {"name": "Nora", "email": "nora@example.org", "password1": PASSWORD}
            asked = browser.post("/accounts/signup/", form, follow=True)
            assert asked.status_code == 200
            code = next(line for line in str(mail.outbox[-1].body).splitlines() if line.isdigit())
            browser.post("/accounts/login/code/confirm/", {"code": code})

        assert told(sign_up) == []
        assert User.objects.exists()


def test_nobody_is_told_at_an_unproved_address(told: Told) -> None:
    def act() -> None:
        unconfirmed(email="nora@example.org", name="Nora", password=PASSWORD)

    assert told(act) == []


def test_the_command_line_is_told_too(person: User, told: Told) -> None:
    messages = told(lambda: call_command("createapikey", person.email))
    assert "By: the operator of this service" in messages[0].body


def test_what_the_operator_turns_off_is_told(person: User, operator: User, told: Told) -> None:
    TOTP.activate(person, SEED)
    messages = told(lambda: end_two_factor(account=person, actor=operator))
    assert [each.to for each in messages] == ALL
    assert messages[0].subject == "Review Loop: Two-factor sign-in was turned off"


def test_a_broken_mail_server_stops_no_change(person: User, told: Told, settings: Settings) -> None:
    settings.EMAIL_BACKEND = "tests.signin.test_sign_up.Broken"
    browser = signed_in(person)
    path, form = new_key(browser, person)
    assert told(lambda: browser.post(path, form)) == []
    assert person.api_keys.exists()


def test_the_texts(person: User, told: Told) -> None:
    browser = signed_in(person)
    path, form = new_key(browser, person)
    form["name"] = "Bot\r\nBcc: x@example.org"
    (message, _) = told(lambda: browser.post(path, form))
    assert "Bot Bcc: x@example.org (rl_live_" in message.body
    assert "\n\n\n" not in message.body
