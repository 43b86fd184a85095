"""Whoever borrows a session changes nothing: each change asks who it is, and then goes on."""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core import mail
from django.test import Client

from accounts import secret_services
from accounts.models import ApiKey, User, WebhookSecret
from accounts.services import create_account, create_api_key
from loops.models import Loop
from loops.services import create_loop
from tests.accounts.test_audit import SEED, code_now
from tests.conftest import PASSWORD
from tests.portal import attribute, long_signed_in, signed_in, words

pytestmark = pytest.mark.django_db
ASKED = "/accounts/reauthenticate/"
KEYS, SECRET = "/dashboard/keys/", "/dashboard/webhook-secret/"


def token_on(browser: Client, path: str) -> str:
    return attribute(browser.get(path), 'name="token" value')


def key_of(owner: User) -> ApiKey:
    return ApiKey.objects.filter(user=owner).first() or create_api_key(user=owner, name="CI")[0]


def new_key(browser: Client, owner: User) -> tuple[str, dict[str, str]]:
    path = f"{KEYS}new/"
    return path, {"name": "Bot", "permissions": "loops:read", "token": token_on(browser, path)}


def new_review_token(browser: Client, owner: User) -> tuple[str, dict[str, str]]:
    path = "/settings/tokens/new/"
    return path, {"name": "Laptop", "days": "7", "token": token_on(browser, path)}


def roll(browser: Client, owner: User) -> tuple[str, dict[str, str]]:
    path = f"{KEYS}{key_of(owner).pk}/"
    return f"{path}roll/", {"overlap": "24", "token": token_on(browser, path)}


def switch(browser: Client, owner: User) -> tuple[str, dict[str, str]]:
    return f"{KEYS}{key_of(owner).pk}/switch/", {"state": "inactive"}


def revoke(browser: Client, owner: User) -> tuple[str, dict[str, str]]:
    return f"{KEYS}{key_of(owner).pk}/revoke/", {"typed": "CI"}


def delete_key(browser: Client, owner: User) -> tuple[str, dict[str, str]]:
    return f"{KEYS}{key_of(owner).pk}/delete/", {"typed": "CI"}


def version(owner: User) -> dict[str, str]:
    return {"seen": secret_services.read_status(owner.pk).changed_at.isoformat()}


def reveal(browser: Client, owner: User) -> tuple[str, dict[str, str]]:
    return f"{SECRET}reveal/", {}


def set_secret(browser: Client, owner: User) -> tuple[str, dict[str, str]]:
    return f"{SECRET}set/", {"secret": "a secret of my own", **version(owner)}


def rotate(browser: Client, owner: User) -> tuple[str, dict[str, str]]:
    return f"{SECRET}rotate/", version(owner)


def end_overlap(browser: Client, owner: User) -> tuple[str, dict[str, str]]:
    secret_services.rotate_secret(account=owner)
    return f"{SECRET}end-overlap/", version(owner)


def delete_loop(browser: Client, owner: User) -> tuple[str, dict[str, str]]:
    loop = create_loop(owner_id=owner.pk, name="Desk", icon="star")
    return f"/dashboard/loops/{loop.pk}/delete/", {"typed": "Desk"}


def end_sessions(browser: Client, owner: User) -> tuple[str, dict[str, str]]:
    other = Client()
    other.post("/accounts/login/", {"login": owner.email, "password": PASSWORD})
    return "/dashboard/account/sessions/end/", {}


def download_data(browser: Client, owner: User) -> tuple[str, dict[str, str]]:
    return "/dashboard/account/data/download/", {}


def delete_account(browser: Client, owner: User) -> tuple[str, dict[str, str]]:
    return "/dashboard/account/data/delete/", {"typed": owner.email}


def add_address(browser: Client, owner: User) -> tuple[str, dict[str, str]]:
    return "/accounts/email/", {"action_add": "", "email": "new@example.org"}


def remove_address(browser: Client, owner: User) -> tuple[str, dict[str, str]]:
    EmailAddress.objects.create(user=owner, email="old@example.org", verified=True)
    return "/accounts/email/", {"action_remove": "", "email": "old@example.org"}


def make_primary(browser: Client, owner: User) -> tuple[str, dict[str, str]]:
    EmailAddress.objects.create(user=owner, email="old@example.org", verified=True)
    return "/accounts/email/", {"action_primary": "", "email": "old@example.org"}


Change = Callable[[Client, User], tuple[str, dict[str, str]]]
CHANGES: list[Change] = [
    new_key, new_review_token, roll, switch, revoke, delete_key, reveal, set_secret, rotate,
    end_overlap, delete_loop, end_sessions, download_data, delete_account, add_address,
    remove_address, make_primary,
]  # fmt: skip


def state(owner: User) -> list[Any]:
    """What the changes change."""
    return [
        list(ApiKey.objects.order_by("pk").values_list("state", "replaced_by")),
        list(WebhookSecret.objects.values_list("changed_at", "previous_until")),
        list(Loop.objects.values_list("deleted_at", flat=True)),
        list(EmailAddress.objects.order_by("pk").values_list("email", "primary")),
        list(owner.usersession_set.order_by("pk").values_list("pk", flat=True)),  # type: ignore[attr-defined]
        list(owner.audit.order_by("pk").values_list("action", flat=True)),
    ]


@pytest.mark.parametrize("change", CHANGES)
class TestEveryChange:
    def test_it_asks_first_and_then_goes_on(self, owner: User, change: Change) -> None:
        browser = long_signed_in(owner)
        path, form = change(browser, owner)
        before = state(owner)
        asked = browser.post(path, form, follow=True)
        assert asked.redirect_chain[0][0].startswith(ASKED)
        assert "Confirm it’s you" in words(asked)
        assert state(owner) == before
        following = attribute(asked, 'name="next" value')
        browser.post(ASKED, {"password": PASSWORD, "next": following})
        if change is reveal:
            browser.get(SECRET)
        assert state(owner) != before

    def test_who_just_signed_in_is_not_asked(self, owner: User, change: Change) -> None:
        browser = signed_in(owner)
        path, form = change(browser, owner)
        assert not browser.post(path, form).headers.get("Location", "").startswith(ASKED)

    def test_after_a_quarter_of_an_hour_they_are(self, owner: User, change: Change) -> None:
        browser = signed_in(owner)
        path, form = change(browser, owner)
        later = time.time() + settings.ACCOUNT_REAUTHENTICATION_TIMEOUT + 1
        with time_machine.travel(later, tick=True):
            assert browser.post(path, form)["Location"].startswith(ASKED)


def test_what_was_typed_is_unreadable_meanwhile(owner: User) -> None:
    browser = long_signed_in(owner)
    browser.post(*set_secret(browser, owner))
    (row,) = Session.objects.all()
    assert "a+secret+of+my+own" in str(dict(browser.session))
    assert "secret" not in row.session_data
    assert browser.cookies["sessionid"].value not in (row.session_key, row.session_data)


def test_a_wrong_password_changes_nothing(owner: User) -> None:
    browser = long_signed_in(owner)
    path, form = add_address(browser, owner)
    browser.post(path, form)
    again = browser.post(ASKED, {"password": "wrong", "next": path})
    assert "Wrong password" in words(again)
    assert EmailAddress.objects.count() == 1


def test_the_second_factor_confirms_too(owner: User) -> None:
    TOTP.activate(owner, SEED)
    browser = long_signed_in(owner)
    path, form = make_primary(browser, owner)
    browser.post(path, form)
    browser.post("/accounts/2fa/reauthenticate/", {"code": code_now(), "next": path})
    owner.refresh_from_db()
    assert owner.email == "old@example.org"


def test_who_signs_in_in_two_steps_is_not_asked_at_once(owner: User) -> None:
    TOTP.activate(owner, SEED)
    browser = Client()
    browser.post("/accounts/login/", {"login": owner.email, "password": PASSWORD})
    browser.post("/accounts/2fa/authenticate/", {"code": code_now()})
    assert browser.get("/accounts/2fa/totp/deactivate/").status_code == 200


class TestPeopleWithoutAPassword:
    """They confirm with a code by email."""

    PAGE = "/accounts/reauthenticate/code/"

    @pytest.fixture
    def nora(self, db: None) -> User:
        return create_account(email="nora@example.org", name="Nora", verified=True)

    def asked(self, nora: User) -> tuple[Client, str]:
        """A browser on the page, and the path that it goes on to."""
        browser = long_signed_in(nora)
        path, form = new_key(browser, nora)
        led = browser.post(path, form, follow=True)
        assert led.redirect_chain[0][0].startswith(self.PAGE)
        assert "get a code by email at nora@example.org" in words(led)
        return browser, attribute(led, 'name="next" value')

    def code_for(self, browser: Client, path: str) -> str:
        typing = browser.post(self.PAGE, {"next": path}, follow=True)
        assert "Enter the 6-digit code" in words(typing)
        assert attribute(typing, 'name="next" value') == path
        found = re.findall(r"^\d{6}$", str(mail.outbox[-1].body), re.MULTILINE)
        return str(found[0])

    def test_a_code_lets_them_go_on(self, nora: User) -> None:
        browser, path = self.asked(nora)
        code = self.code_for(browser, path)
        assert not ApiKey.objects.exists()
        browser.post(self.PAGE, {"code": code, "next": path})
        assert ApiKey.objects.get().name == "Bot"

    def test_a_wrong_code_does_not(self, nora: User) -> None:
        browser, path = self.asked(nora)
        code = self.code_for(browser, path)
        wrong = "000000" if code != "000000" else "111111"
        told = [browser.post(self.PAGE, {"code": wrong, "next": path}) for _ in range(5)]
        assert "Wrong code. Attempts left: 4" in words(told[0])
        assert told[4].status_code == 302
        browser.post(self.PAGE, {"code": code, "next": path})
        assert not ApiKey.objects.exists()

    def test_nor_does_the_code_of_a_sign_in(self, nora: User) -> None:
        browser, path = self.asked(nora)
        Client().post("/accounts/login/code/", {"email": nora.email})
        (code,) = re.findall(r"^\d{6}$", str(mail.outbox[-1].body), re.MULTILINE)
        browser.post(self.PAGE, {"code": code, "next": path})
        assert not ApiKey.objects.exists()

    def test_setting_a_password_asks_too(self, nora: User) -> None:
        browser = long_signed_in(nora)
        led = browser.get("/accounts/password/set/")
        assert led["Location"].startswith(self.PAGE)

    def test_a_code_that_was_just_given_counts(self, nora: User) -> None:
        browser = Client()
        browser.post("/accounts/login/code/", {"email": nora.email})
        (code,) = re.findall(r"^\d{6}$", str(mail.outbox[-1].body), re.MULTILINE)
        browser.post("/accounts/login/code/confirm/", {"code": code})
        assert browser.get("/accounts/password/set/").status_code == 200

    def test_nobody_else_sees_the_page(self, owner: User) -> None:
        assert signed_in(owner).get(self.PAGE).status_code == 404
        assert Client().get(self.PAGE)["Location"].startswith("/accounts/login/")
