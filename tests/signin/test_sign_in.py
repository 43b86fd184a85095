"""Signing in and out, forgotten passwords, and accounts that the operator switched off."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from tests.conftest import PASSWORD
from tests.portal import attribute, signed_in, words

pytestmark = pytest.mark.django_db


def sign_in(browser: Client, password: str = PASSWORD, **extra: str) -> Any:
    form = {"login": "Member@example.com", "password": password, **extra}
    return browser.post("/accounts/login/", form, follow=True)


def test_in_and_out(member: User) -> None:
    browser = Client()
    assert sign_in(browser).redirect_chain == [("/inbox/", 302)]
    asked = browser.get("/accounts/logout/")
    assert "You’re signed in as member@example.com." in words(asked)
    assert browser.get("/inbox/").status_code == 200  # asking is not doing
    assert browser.post("/accounts/logout/")["Location"] == "/"
    assert browser.get("/inbox/").status_code == 302


@pytest.mark.parametrize(
    ("target", "landing"),
    [
        ("/inbox/?page=2", "/inbox/?page=2"),
        ("https://elsewhere.example/", "/inbox/"),
        ("//elsewhere.example", "/inbox/"),
        ("javascript:alert(1)", "/inbox/"),
        ("/\\elsewhere.example", "/inbox/"),
    ],
)
def test_next_leads_back_but_never_away(member: User, target: str, landing: str) -> None:
    assert sign_in(Client(), next=target).redirect_chain == [(landing, 302)]


@pytest.mark.parametrize(
    ("path", "then", "landing"),
    [
        ("/accounts/login/", "/inbox/?page=2", "/inbox/?page=2"),
        ("/accounts/login/", "", "/inbox/"),
        ("/accounts/login/", "https://elsewhere.example/", "/inbox/"),
        ("/accounts/signup/", "/dashboard/keys/", "/dashboard/keys/"),
        ("/accounts/login/code/", "/dashboard/keys/", "/dashboard/keys/"),
    ],
)
def test_signed_in_in_another_tab(member: User, path: str, then: str, landing: str) -> None:
    browser = Client(enforce_csrf_checks=True)
    old = attribute(browser.get(path), 'csrfmiddlewaretoken" value')
    assert sign_in(browser, csrfmiddlewaretoken=old).redirect_chain == [("/inbox/", 302)]
    form = {"csrfmiddlewaretoken": old, "next": then, "email": "x@example.org"}
    response = browser.post(path, form, follow=True)
    assert response.redirect_chain[-1][0] == landing
    assert response.status_code == 200


def test_a_wrong_password_is_told(member: User) -> None:
    answer = sign_in(Client(), "wrong")
    assert "Wrong email address or password" in words(answer)
    assert 'value="Member@example.com"' in answer.content.decode()


def test_guessing_passwords_ends(member: User) -> None:
    browser = Client()
    for _ in range(5):
        sign_in(browser, "wrong")
    assert "Too many failed login attempts. Try again later." in words(sign_in(browser))
    assert browser.get("/inbox/").status_code == 302


def test_guessing_goes_by_the_address_of_the_connection(member: User, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 0
    browser = Client()
    for number in range(31):
        response = browser.post(
            "/accounts/login/",
            {"login": f"{number}@example.com", "password": "x"},
            headers={"X-Forwarded-For": f"192.0.2.{number}"},
        )
    assert response.status_code == 429
    assert "Too many attempts" in words(response)


def test_people_get_in_without_the_cache(member: User, settings: Settings, tmp_path: Path) -> None:
    cache: dict[str, Any] = {**settings.CACHES["default"], "LOCATION": f"unix://{tmp_path}/gone"}
    settings.CACHES = {"default": cache}
    assert sign_in(Client()).redirect_chain == [("/inbox/", 302)]


def test_an_account_that_is_switched_off_stays_out(member: User) -> None:
    inside = signed_in(member)
    member.is_active = False
    member.save()
    browser = Client()
    answer = sign_in(browser)
    assert answer.redirect_chain == [("/accounts/inactive/", 302)]
    assert "This account is disabled" in words(answer)
    assert browser.get("/inbox/").status_code == 302
    assert inside.get("/inbox/").status_code == 302


def test_a_forgotten_password(member: User, settings: Settings) -> None:
    settings.SITE_URL = "https://review.example.com"
    browser = Client()
    response = browser.post(
        "/accounts/password/reset/", {"email": "member@example.com"}, follow=True
    )
    assert "Check your email" in words(response)
    (message,) = mail.outbox
    (url,) = re.findall(r"^https://review\.example\.com(/\S+)$", str(message.body), re.MULTILINE)
    form = browser.get(url, follow=True)
    path = form.redirect_chain[-1][0]
    assert "Set a new password" in words(form)
    done = browser.post(path, {"password1": "another long one", "password2": "another long one"})
    assert done.status_code == 302
    assert "Your password is set" in words(browser.get(done["Location"]))
    assert sign_in(browser, "another long one").redirect_chain == [("/inbox/", 302)]
    assert "This link no longer works" in words(Client().get(url))


def test_an_unknown_address_gets_the_same_answer(member: User) -> None:
    answers = [
        Client().post("/accounts/password/reset/", {"email": email}, follow=True)
        for email in ("member@example.com", "nobody@example.com")
    ]
    assert answers[0].content == answers[1].content
    assert "There is no account with this address." in mail.outbox[1].body


@pytest.mark.parametrize(
    "path",
    [
        "login/",
        "signup/",
        "logout/",
        "inactive/",
        "email/",
        "confirm-email/",
        "confirm-email/x/",
        "password/change/",
        "password/set/",
        "password/reset/",
        "password/reset/done/",
        "password/reset/key/done/",
        "password/reset/key/1-x/",
        "reauthenticate/",
        "login/code/confirm/",
        "nothing/",
    ],
)
def test_every_account_page_is_one_of_ours(member: User, path: str) -> None:
    for browser in (Client(), signed_in(member)):
        response = browser.get(f"/accounts/{path}", follow=True)
        assert response.status_code in (200, 404)
        source = response.content.decode()
        assert '<html lang="en" dir="ltr">' in source
        assert source.count("<h1") == 1
        assert "<script>" not in source
        assert 'style="' not in source
