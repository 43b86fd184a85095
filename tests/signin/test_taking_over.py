"""What a first code does to an account that used the unconfirmed address before."""

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP
from django.core import mail
from django.core.management import call_command
from django.test import Client

from accounts.models import ApiKey, AuditEntry, User, WebhookSecret
from accounts.secret_services import read_secrets
from accounts.services import create_account, create_api_key
from tests.accounts.test_audit import SEED, code_now
from tests.conftest import PASSWORD, Api
from tests.portal import confirmed, unconfirmed, words
from tests.signin.test_code_by_mail import CONFIRM, NORA, SIGN_UP, ask, code_in, give

pytestmark = pytest.mark.django_db
EMAIL, EVIL = "nora@example.org", "evil@evil.example"


@pytest.fixture(autouse=True)
def _fresh(db: None) -> None:
    """No test inherits another one's throttles."""


def squat() -> Client:
    """The browser of somebody who has signed up with Nora's address, and not confirmed it."""
    return unconfirmed(**NORA, password=PASSWORD)


def prove(browser: Client) -> Any:
    """Nora signs up with a code; the page that she lands on."""
    mail.outbox.clear()
    ask(browser, SIGN_UP, **NORA)
    return give(browser, code_in(mail.outbox[-1]))


def add_address(user: User) -> str:
    """Another one; the path that confirms it."""
    confirmed(user).post("/accounts/email/", {"action_add": "", "email": EVIL})
    (path,) = re.findall(r"http://testserver(/\S+confirm-email\S+)", str(mail.outbox[-1].body))
    return str(path)


def told(user: User) -> list[tuple[str, str]]:
    rows = AuditEntry.objects.filter(account=user).order_by("created_at", "pk")
    return list(rows.values_list("action", "subject"))


def test_a_stranger_keeps_no_way_in() -> None:
    squatter = squat()
    user = User.objects.get()
    _, secret = create_api_key(user=user, name="mine")
    old = read_secrets(user.pk).current.text
    link = add_address(user)
    browser = Client()
    page = words(prove(browser))
    for part in (
        "Your address is confirmed. Someone else may have created this account",
        "all other browsers and devices were signed out",
        "the password was removed",
        f"{EVIL} no longer belongs to it",
        "the API keys were deactivated",
        "the webhook secret was replaced",
    ):
        assert part in page
    assert browser.get("/inbox/").status_code == 200
    assert squatter.get("/inbox/").status_code == 302
    assert squatter.post(link).status_code in (302, 404)
    assert list(EmailAddress.objects.values_list("email", "verified", "primary")) == [
        (EMAIL, True, True)
    ]
    assert Api(secret).get("/v1/test").status_code == 401
    assert ApiKey.objects.get().state == "inactive"
    now = read_secrets(user.pk)
    assert now.current.text != old
    assert (now.current.issued, now.previous) == (True, None)
    entries = told(user)
    assert ("security.password_ended", "") in entries
    assert ("account.email_removed", EVIL) in entries
    assert ("webhook_secret.replaced", "") in entries
    assert [action for action, _ in entries].count("key.inactive") == 1


def test_an_account_without_a_password_is_taken_over_too() -> None:
    user = create_account(email=EMAIL, name="Nora")
    create_api_key(user=user, name="mine")
    assert "the API keys were deactivated" in words(prove(Client()))
    assert not WebhookSecret.objects.exists()  # nobody has ever seen one


def test_the_second_code_ends_nothing() -> None:
    squat()
    prove(Client())
    _, secret = create_api_key(user=User.objects.get(), name="mine")
    assert "Your address is confirmed" not in words(prove(Client()))
    assert Api(secret).get("/v1/test").status_code == 200


def test_who_has_confirmed_another_address_keeps_the_account() -> None:
    """They had mistyped theirs; the one that they signed up with goes to its holder."""
    mistyped = squat()
    first = User.objects.get()
    _, secret = create_api_key(user=first, name="mine")
    mistyped.post(add_address(first))
    mail.outbox.clear()
    newcomer = Client()
    ask(newcomer, email=EMAIL)
    assert "There is no account with this address." in mail.outbox[-1].body
    assert "Your address is confirmed" not in words(prove(newcomer))
    second = User.objects.get(email=EMAIL)
    assert second.pk != first.pk
    assert EmailAddress.objects.get(user=second).verified
    first.refresh_from_db()
    assert first.email == EVIL
    assert list(EmailAddress.objects.filter(user=first).values_list("email", "primary")) == [
        (EVIL, True)
    ]
    assert told(first)[-1] == ("account.email_lost", EVIL)
    assert mistyped.get("/inbox/").status_code == 200
    assert Api(secret).get("/v1/test").status_code == 200


class TestForgottenPassword:
    """The link goes to whom a code would let in."""

    def ask(self, email: str) -> str:
        mail.outbox.clear()
        Client().post("/accounts/password/reset/", {"email": email})
        assert mail.outbox[-1].to == [email]
        return str(mail.outbox[-1].body)

    def test_not_to_an_address_that_was_mistyped(self) -> None:
        mistyped = squat()
        mistyped.post(add_address(User.objects.get()))
        assert "There is no account with this address." in self.ask(EMAIL)
        assert "/accounts/password/reset/key/" in self.ask(EVIL)

    def test_not_to_an_address_that_was_only_added(self, member: User) -> None:
        EmailAddress.objects.create(user=member, email=EVIL)
        assert "There is no account with this address." in self.ask(EVIL)

    def test_to_whoever_signed_up_and_has_confirmed_none(self) -> None:
        squat()
        assert "/accounts/password/reset/key/" in self.ask(EMAIL)


class TestSecondFactor:
    def ask_and_give(self, user: User) -> tuple[Client, Any]:
        TOTP.activate(user, SEED)
        browser = Client()
        ask(browser, email=EMAIL)
        return browser, give(browser, code_in(mail.outbox[-1]))

    def test_the_mailbox_alone_ends_nothing(self) -> None:
        squatter = squat()
        user = User.objects.get()
        _, asked = self.ask_and_give(user)
        assert asked.redirect_chain == [("/accounts/2fa/authenticate/", 302)]
        user.refresh_from_db()
        assert user.has_usable_password()
        assert squatter.get("/inbox/").status_code == 200
        assert not EmailAddress.objects.get().verified

    def test_after_it_the_address_is_confirmed(self) -> None:
        squatter = squat()
        browser, _ = self.ask_and_give(User.objects.get())
        form = {"code": code_now()}
        landed = browser.post("/accounts/2fa/authenticate/", form, follow=True)
        assert "Your address is confirmed." in words(landed)
        assert browser.get("/inbox/").status_code == 200
        assert squatter.get("/inbox/").status_code == 302
        assert EmailAddress.objects.get().verified


def test_who_comes_with_a_password_confirms_nothing() -> None:
    """Also where the same browser has asked for a code before."""
    squat()
    browser = Client()
    ask(browser, email=EMAIL)
    browser.post("/accounts/login/", {"login": EMAIL, "password": PASSWORD})
    assert browser.get("/inbox/").status_code == 200
    assert browser.get(CONFIRM).status_code == 302
    assert not EmailAddress.objects.get().verified


def test_what_the_command_line_makes_counts_as_confirmed(api: type[Api]) -> None:
    operator = User.objects.create_superuser(email="Root@example.com", password=PASSWORD)
    call_command("createapikey", EMAIL)
    held = EmailAddress.objects.order_by("email").values_list("email", "verified", "primary")
    assert list(held) == [(EMAIL, True, True), ("root@example.com", True, True)]
    ask(browser := Client(), email="root@example.com")
    give(browser, code_in(mail.outbox[-1]))
    assert browser.get("/inbox/").status_code == 200
    operator.refresh_from_db()
    assert operator.has_usable_password()
    prove(Client())
    assert ApiKey.objects.get().state == "active"
