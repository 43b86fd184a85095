"""Signing up: the form, the way back to the join link, and confirming the address."""

import re
from smtplib import SMTPException
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.mail.backends.base import BaseEmailBackend
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from accounts.passwords import GoodPassword
from accounts.services import reserve_user_id
from loops.models import Loop, Membership
from tests.conftest import PASSWORD
from tests.portal import signed_in, unconfirmed, words
from tests.signin.test_code_by_mail import CONFIRM, code_in, give

pytestmark = pytest.mark.django_db
FORM = {"name": "Nora New", "email": "Nora@Example.org", "password1": "correct horse battery"}


class Broken(BaseEmailBackend):
    """A mail server that is not there."""

    def send_messages(self, email_messages: Any) -> int:
        raise SMTPException


def sign_up(browser: Client, **change: str) -> Any:
    """Signs up and types the code; the page after it."""
    browser.post("/accounts/signup/", {**FORM, **change})
    return give(browser, code_in(mail.outbox[-1]))


def link_in(message: Any) -> str:
    (url,) = re.findall(r"^http\S+$", message.body, re.MULTILINE)[:1]
    return str(url)


def test_from_the_join_link_and_back(loop: Loop) -> None:
    browser, path = Client(), f"/join/{loop.invite_code}"
    assert f'href="/accounts/signup/?next={path}"' in browser.get(path).content.decode()
    form = browser.get(f"/accounts/signup/?next={path}").content.decode()
    assert re.search(rf'<input[^>]*name="next"[^>]*value="{path}"', form)
    asked = browser.post("/accounts/signup/", {**FORM, "next": path}, follow=True)
    assert "We sent an email to nora@example.org" in words(asked)
    assert not User.objects.exclude(pk__in=loop.memberships.values("user")).exists()
    response = give(browser, code_in(mail.outbox[0]), next=path)
    assert response.redirect_chain == [(path, 302)]
    assert "You’re signed in as nora@example.org." in words(response)
    browser.post(path)
    user = User.objects.get(email="nora@example.org")
    assert user.name == "Nora New"
    assert user.check_password(FORM["password1"])
    assert EmailAddress.objects.get(user=user).verified
    assert Membership.objects.get(loop=loop, user=user).status == "active"


def test_the_rules_of_a_password_are_one_sentence(db: None) -> None:
    page = words(Client().get("/accounts/signup/"))
    assert f"Password {GoodPassword().get_help_text()}" in page
    for weak in ("nora@example", "12345678", "password", "short"):
        form = {**FORM, "password1": weak}
        assert Client().post("/accounts/signup/", form).status_code == 200
    assert not User.objects.exists()


def test_only_what_is_unconfirmed_can_be_confirmed(owner: User) -> None:
    browser, page = signed_in(owner), "/accounts/email/"
    assert "Resend confirmation" not in words(browser.get(page))
    for name in ("a", "b"):
        EmailAddress.objects.create(user=owner, email=f"{name}@example.org")
    assert words(browser.get(page)).count("Resend confirmation") == 1


def test_the_form_has_three_fields(db: None) -> None:
    source = Client().get("/accounts/signup/").content.decode()
    main = source.partition("<main")[2]
    names = re.findall(r'<input[^>]*name="(\w+)"', main)
    assert [name for name in names if name != "csrfmiddlewaretoken"] == [
        "name",
        "email",
        "password1",
    ]
    for name in ("name", "email", "password1"):
        assert f'<label for="id_{name}">' in main
    assert "placeholder" not in main


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"name": " "}, "Enter your name"),
        ({"email": ""}, "Enter your email address"),
        ({"password1": ""}, "Enter a password"),
        ({"name": "x" * 101}, "Ensure this value has at most 100 characters"),
        ({"name": "a\0b"}, "Null characters are not allowed."),
        ({"email": "nobody"}, "Enter a valid email address."),
        ({"password1": "short"}, "This password is too short."),
        ({"password1": "password1234"}, "This password is too common."),
    ],
)
def test_faults_stand_beside_their_fields(owner: User, change: dict[str, str], fault: str) -> None:
    response = Client().post("/accounts/signup/", {**FORM, **change})
    (field,) = change
    source = response.content.decode()
    assert fault in words(response)
    assert f'id="id_{field}_error"' in source
    assert 'aria-invalid="true"' in source
    assert User.objects.count() == 1


def test_the_link_in_the_mail_confirms_the_address(settings: Settings) -> None:
    settings.SITE_URL = "https://review.example.com"
    browser = unconfirmed(name="Nora", email="nora@example.org", password=FORM["password1"])
    browser.post("/accounts/email/", {"action_send": "", "email": "nora@example.org"})
    (message,) = mail.outbox
    assert message.to == ["nora@example.org"]
    assert message.subject == "Review Loop: Confirm your email address"
    assert link_in(message).startswith("https://review.example.com/accounts/confirm-email/")
    path = link_in(message).removeprefix("https://review.example.com")
    address = EmailAddress.objects.get(email="nora@example.org")
    assert "Is nora@example.org your address?" in words(Client().get(path))
    address.refresh_from_db()
    assert not address.verified  # opening a link decides nothing
    assert Client().post(path).status_code == 302
    address.refresh_from_db()
    assert address.verified
    assert "This link no longer works" in words(Client().get("/accounts/confirm-email/x/"))


def test_a_broken_mail_server_is_told(settings: Settings) -> None:
    settings.EMAIL_BACKEND = f"{__name__}.Broken"
    response = Client().post("/accounts/signup/", FORM)
    assert response.status_code == 422
    assert "We couldn’t send an email to this address." in words(response)


def test_who_only_types_an_invited_address_gets_an_id_of_their_own(db: None) -> None:
    reserved = reserve_user_id(email="nora@example.org")
    unconfirmed(email="nora@example.org", name="Eve", password=PASSWORD)
    assert User.objects.get(email="nora@example.org").pk != reserved
    assert reserve_user_id(email="nora@example.org") == reserved


def test_who_confirms_an_invited_address_gets_the_id_that_waits_for_it(db: None) -> None:
    reserved = reserve_user_id(email="nora@example.org")
    sign_up(Client())
    assert User.objects.get(email="nora@example.org").pk == reserved


def test_too_many_sign_ups_from_one_address(db: None) -> None:
    browser = Client()
    for number in range(21):
        response = browser.post("/accounts/signup/", {**FORM, "email": f"{number}"})
    assert response.status_code == 429
    assert "Too many attempts" in words(response)


def test_who_is_signed_in_needs_no_sign_up(owner: User) -> None:
    assert signed_in(owner).get("/accounts/signup/")["Location"] == "/inbox/"


class TestNobodyLearnsWhetherAnAddressIsTaken:
    def test_the_pages_are_the_same(self, owner: User) -> None:
        taken, free = Client(), Client()
        pages = [
            words(browser.post("/accounts/signup/", {**FORM, "email": email}, follow=True))
            for browser, email in ((taken, "owner@example.com"), (free, "nobody@example.com"))
        ]
        assert pages[0].replace("owner@", "nobody@") == pages[1]
        tried = [words(browser.post(CONFIRM, {"code": "000001"})) for browser in (taken, free)]
        assert tried[0].replace("owner@", "nobody@") == tried[1]
        assert User.objects.count() == 1
        guess = {"login": "nobody@example.com", "password": FORM["password1"]}
        assert "Wrong email address or password" in words(Client().post("/accounts/login/", guess))

    def test_the_mail_tells_the_right_person(self, owner: User) -> None:
        browser = Client()
        landed = sign_up(browser, email="owner@example.com", password1="somebody else's choice")
        assert "You already have an account with it." in mail.outbox[0].body
        assert "You already had an account with this address" in words(landed)
        owner.refresh_from_db()
        assert owner.check_password(PASSWORD)
        assert owner.name == "Owner"

    def test_another_code_keeps_the_password(self) -> None:
        browser = Client()
        asked = browser.post("/accounts/signup/", FORM, follow=True)
        assert 'href="/accounts/signup/"' in asked.content.decode()  # for another address
        again = {"name": FORM["name"], "email": FORM["email"].lower()}
        browser.post("/accounts/signup/code/", again)
        give(browser, code_in(mail.outbox[-1]))
        assert User.objects.get().check_password(FORM["password1"])

    def test_without_mail_it_has_to_tell(self, owner: User, settings: Settings) -> None:
        settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
        taken = {**FORM, "email": "OWNER@example.com"}
        assert "already" in words(Client().post("/accounts/signup/", taken))
        response = Client().post("/accounts/signup/", FORM, follow=True)
        assert response.redirect_chain == [("/inbox/", 302)]
