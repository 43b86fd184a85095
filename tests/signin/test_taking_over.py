"""What the first proof of a mailbox does to an account that used the address before."""

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.core import mail
from django.core.management import call_command
from django.test import Client

from accounts.models import ApiKey, AuditEntry, User, WebhookSecret
from accounts.secret_services import read_secrets
from accounts.services import create_account, create_api_key, set_key_state
from reviews.models import PushSubscription
from tests.accounts.test_audit import SEED, code_now
from tests.accounts.tokens import token_of
from tests.conftest import PASSWORD, Api
from tests.portal import confirmed, unconfirmed, words
from tests.signin.test_code_by_mail import CONFIRM, NORA, SIGN_UP, ask, code_in, give

pytestmark = pytest.mark.django_db
EMAIL, EVIL = "nora@example.org", "evil@evil.example"
NEW = "quite another battery"
WAYS = ["code", "reset", "link"]


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


def link_in(message: Any, kind: str) -> str:
    (path,) = re.findall(rf"http://testserver(/\S+{kind}\S+)", str(message.body))
    return str(path)


def reset(browser: Client) -> Any:
    """Nora asks for a new password, and sets one."""
    mail.outbox.clear()
    browser.post("/accounts/password/reset/", {"email": EMAIL})
    form = browser.get(link_in(mail.outbox[-1], "reset/key"), follow=True)
    return set_password(browser, form)


def confirm(browser: Client) -> Any:
    """Nora opens the link in the first email that her address got, and does what it asks."""
    row = EmailAddress.objects.get(email=EMAIL)
    path = f"/accounts/confirm-email/{EmailConfirmationHMAC(row).key}/"
    assert "you’ll choose a new password next" in words(browser.get(path))
    form = browser.post(path, follow=True)
    assert "Now choose a new password." in words(form)
    return set_password(browser, form), words(form)


def set_password(browser: Client, form: Any) -> Any:
    (path, _) = form.redirect_chain[-1]
    return browser.post(path, {"password1": NEW, "password2": NEW}, follow=True)


def prove_by(way: str) -> str:
    """The text of the page that says what has changed."""
    browser = Client()
    if way == "code":
        return words(prove(browser))
    if way == "reset":
        return words(reset(browser))
    _, page = confirm(browser)
    return str(page)


def add_address(user: User) -> str:
    """Another one; the path that confirms it."""
    confirmed(user).post("/accounts/email/", {"action_add": "", "email": EVIL})
    return link_in(mail.outbox[-1], "confirm-email")


def told(user: User) -> list[tuple[str, str]]:
    rows = AuditEntry.objects.filter(account=user).order_by("created_at", "pk")
    return list(rows.values_list("action", "subject"))


@pytest.mark.parametrize("way", WAYS)
def test_a_stranger_keeps_no_way_in(way: str) -> None:
    squatter = squat()
    user = User.objects.get()
    _, secret = create_api_key(user=user, name="mine")
    token = token_of(user)
    hidden, asleep = create_api_key(user=user, name="asleep")
    set_key_state(key=hidden, state=ApiKey.State.INACTIVE)
    old = read_secrets(user.pk).current.text
    PushSubscription.objects.create(user=user, endpoint="https://push.example/1", host="x")
    link = add_address(user)
    TOTP.activate(user, SEED)
    RecoveryCodes.activate(user)
    page = prove_by(way)
    for part in (
        "Your address is confirmed. Someone else may have created this account",
        "all other browsers and devices were signed out",
        "two-factor sign-in was turned off",
        f"{EVIL} no longer belongs to it",
        "the API keys were revoked",
        "the review tokens were revoked",
        "the webhook secret was replaced",
    ):
        assert part in page
    assert ("the password was removed" in page) is (way != "reset")  # there it was replaced
    assert squatter.get("/inbox/").status_code == 302
    assert Client().login(email=EMAIL, password=PASSWORD) is False
    assert squatter.post(link).status_code == 404
    assert list(EmailAddress.objects.values_list("email", "verified", "primary")) == [
        (EMAIL, True, True)
    ]
    for each in (secret, asleep):
        assert Api(each).get("/v1/test").status_code == 401
    assert Api(token).get("/v1/review/requests").status_code == 401
    assert set(ApiKey.objects.values_list("state", flat=True)) == {"revoked"}
    assert not PushSubscription.objects.exists()
    assert not Authenticator.objects.exists()
    now = read_secrets(user.pk)
    assert now.current.text != old
    assert (now.current.issued, now.previous) == (True, None)
    entries = told(user)
    for entry in (
        ("account.email_removed", EVIL),
        ("account.email_confirmed", EMAIL),
        ("webhook_secret.replaced", ""),
        ("security.two_factor_off", ""),
    ):
        assert entry in entries
    assert [action for action, _ in entries].count("key.revoked") == 2


@pytest.mark.parametrize("way", ["reset", "link"])
def test_the_new_password_is_the_only_one(way: str) -> None:
    squat()
    prove_by(way)
    assert Client().login(email=EMAIL, password=NEW) is True
    assert Client().login(email=EMAIL, password=PASSWORD) is False


def test_an_account_without_a_password_is_taken_over_too() -> None:
    user = create_account(email=EMAIL, name="Nora")
    create_api_key(user=user, name="mine")
    assert "the API keys were revoked" in words(prove(Client()))
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
    assert ("account.email_removed", EMAIL) in told(first)
    assert mistyped.get("/inbox/").status_code == 200
    assert Api(secret).get("/v1/test").status_code == 401  # the first proof, as any other


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
    """Of an account that a stranger made, it must not keep the owner of the mailbox out."""

    def ask_and_give(self) -> tuple[Client, Any]:
        TOTP.activate(User.objects.get(), SEED)
        browser = Client()
        ask(browser, email=EMAIL)
        return browser, give(browser, code_in(mail.outbox[-1]))

    def test_a_strangers_is_removed(self) -> None:
        squat()
        browser, landed = self.ask_and_give()
        assert "two-factor sign-in was turned off" in words(landed)
        assert browser.get("/inbox/").status_code == 200
        assert not Authenticator.objects.exists()

    def test_the_owners_is_asked_for(self) -> None:
        create_account(email=EMAIL, name="Nora", password=PASSWORD, verified=True)
        browser, asked = self.ask_and_give()
        assert asked.redirect_chain == [("/accounts/2fa/authenticate/", 302)]
        assert browser.get("/inbox/").status_code == 302
        browser.post("/accounts/2fa/authenticate/", {"code": code_now()})
        assert browser.get("/inbox/").status_code == 200


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
