"""A service that sends no email never says that it sent one."""

import re

import pytest
from django.core import mail
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from loops.models import Loop
from tests.conftest import PASSWORD
from tests.portal import signed_in, unconfirmed, words

pytestmark = pytest.mark.django_db
NO_MAIL = "This service doesn’t send email"
SENT = ("sent", "Check your email")


@pytest.fixture(autouse=True)
def _without_mail(settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"


def test_a_forgotten_password_is_the_operators(owner: User) -> None:
    for page in (
        Client().get("/accounts/password/reset/"),
        Client().post("/accounts/password/reset/", {"email": "owner@example.com"}),
    ):
        assert "Ask its operator for a link to set a new password." in words(page)
        assert "<form" not in page.content.decode().partition("<main")[2]


@pytest.mark.parametrize("page", ["/accounts/confirm-email/", "/accounts/password/reset/done/"])
def test_no_page_tells_of_an_email(page: str) -> None:
    assert Client().get(page).status_code == 404


def test_signing_up_and_adding_addresses(db: None) -> None:
    browser = unconfirmed(email="nora@example.org", name="Nora", password=PASSWORD)
    page = words(browser.get("/accounts/email/"))
    assert NO_MAIL in page
    assert "Resend confirmation" not in page
    for form in (
        {"action_add": "", "email": "b@example.org"},
        {"action_send": "", "email": "nora@example.org"},
    ):
        landed = words(browser.post("/accounts/email/", form, follow=True))
        assert NO_MAIL in landed
        assert not any(word in landed for word in SENT)
    form = {"name": "Max", "email": "max@example.org", "password1": "correct horse battery"}
    landed = words(Client().post("/accounts/signup/", form, follow=True))
    assert not any(word in landed for word in SENT)


def test_who_has_just_signed_up_is_not_asked_for_the_password_again(db: None) -> None:
    browser = Client()
    form = {"name": "Max", "email": "max@example.org", "password1": "correct horse battery"}
    browser.post("/accounts/signup/", form)
    page = browser.get("/dashboard/keys/new/").content.decode()
    token = re.search(r'name="token" value="([^"]+)"', page)
    assert token
    made = browser.post(
        "/dashboard/keys/new/",
        {"name": "Program", "permissions": "requests:write", "token": token[1]},
        follow=True,
    )
    assert re.search(r"rl_live_\w+", words(made)), words(made)[:1500]


def test_an_invitation_is_only_stored(loop: Loop, owner: User) -> None:
    browser = signed_in(owner)
    page = words(browser.get(f"/dashboard/loops/{loop.pk}/"))
    assert "They’re listed as invited; send them the link yourself." in page
    landed = words(
        browser.post(
            f"/dashboard/loops/{loop.pk}/invite/", {"email": "nora@example.org"}, follow=True
        )
    )
    assert "is invited. This service doesn’t send email: share the link yourself." in landed
    assert "Invitation sent" not in landed
    assert not mail.outbox


def test_a_loop_that_asks_for_confirmed_addresses(loop: Loop) -> None:
    Loop.objects.filter(pk=loop.pk).update(allowed_domains=["example.org"])
    browser = unconfirmed(email="nora@example.org", name="Nora", password=PASSWORD)
    refused = words(browser.post(f"/join/{loop.invite_code}"))
    assert "doesn’t send email, so nobody can confirm one" in refused
    assert "We’ll send" not in refused


def test_notifications(member: User) -> None:
    page = words(signed_in(member).get("/settings/notifications/"))
    assert "This service doesn’t send email yet." in page
    assert "You can get emails" not in page
