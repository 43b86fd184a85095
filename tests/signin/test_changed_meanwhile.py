"""A form of signing in that is under way while the account changes."""

import threading
from collections.abc import Callable

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.core.cache import cache
from django.db import connection
from django.test import Client

from accounts import operator_services
from accounts.erasing import is_erased
from accounts.models import User
from accounts.proofs import confirm_address
from accounts.secured import lock_account
from accounts.services import save_profile
from reviews import erasing
from tests.conftest import PASSWORD
from tests.portal import signed_in, unconfirmed, words
from tests.signin.test_two_factor import ON, code_of, seed_on

pytestmark = pytest.mark.django_db(transaction=True)
NEW = "quite another battery"
CHANGE = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}


def do_elsewhere(move: Callable[[], object]) -> None:
    """Does something on another connection, and waits for its commit."""
    failures: list[Exception] = []

    def run() -> None:
        try:
            move()
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(30)
    assert failures == []


def change_password(
    browser: Client, monkeypatch: pytest.MonkeyPatch, *, meanwhile: Callable[[], object]
) -> str:
    """Changes the password; something else happens while the new one is hashed."""
    hash_password = User.set_password
    moves = [meanwhile]

    def hash_slowly(user: User, password: str | None) -> None:
        hash_password(user, password)
        if password == NEW and moves:
            do_elsewhere(moves.pop())

    monkeypatch.setattr(User, "set_password", hash_slowly)
    response = browser.post("/accounts/password/change/", CHANGE, follow=True)
    assert moves == []
    return words(response)


def can_sign_in(address: str, password: str) -> bool:
    form = {"login": address, "password": password}
    return Client().post("/accounts/login/", form).status_code == 302


def test_a_new_password_brings_no_deleted_account_back(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_password(
        signed_in(owner),
        monkeypatch,
        meanwhile=lambda: erasing.begin(person=User.objects.get(pk=owner.pk)),
    )
    assert is_erased(User.objects.get(pk=owner.pk))
    assert not can_sign_in("owner@example.com", NEW)


def test_a_new_password_enables_no_disabled_account(
    owner: User, operator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_password(
        signed_in(owner),
        monkeypatch,
        meanwhile=lambda: operator_services.switch_account(
            account=owner, is_active=False, actor=operator
        ),
    )
    assert not User.objects.get(pk=owner.pk).is_active


def test_a_strangers_new_password_does_not_survive_the_proof(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = unconfirmed(email="nora@example.org", name="Nora", password=PASSWORD)
    nora = User.objects.get(email="nora@example.org")
    said = change_password(
        stranger,
        monkeypatch,
        meanwhile=lambda: confirm_address(user=User.objects.get(pk=nora.pk), address=nora.email),
    )
    assert "Your password has changed. Sign in again." in said
    assert EmailAddress.objects.get(user=nora).verified
    assert not can_sign_in(nora.email, NEW)


def test_a_strangers_second_factor_does_not_survive_the_proof(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = unconfirmed(email="nora@example.org", name="Nora", password=PASSWORD)
    nora = User.objects.get(email="nora@example.org")
    seed = seed_on(stranger.get(ON))

    def lock_later(user: User) -> None:
        person = User.objects.get(pk=nora.pk)
        do_elsewhere(lambda: confirm_address(user=person, address=nora.email))
        lock_account(user)

    monkeypatch.setattr("signin.locking.lock_account", lock_later)
    stranger.post(ON, {"code": code_of(seed)})
    assert EmailAddress.objects.get(user=nora).verified
    assert not Authenticator.objects.filter(user=nora).exists()


def test_a_profile_names_nobody_who_was_erased(owner: User) -> None:
    recognized = User.objects.get(pk=owner.pk)
    erasing.begin(person=owner)
    save_profile(user=recognized, name="Ada Lovelace", time_zone="Europe/Berlin")
    assert User.objects.get(pk=owner.pk).name.startswith("Erased person")


@pytest.mark.parametrize("path", ["/accounts/2fa/authenticate/", "/accounts/login/", "/dashboard/"])
def test_who_waits_for_a_second_step_that_is_turned_off_signs_in_again(
    owner: User, operator: User, path: str
) -> None:
    TOTP.activate(owner, "JBSWY3DPEHPK3PXP")
    browser, form = Client(), {"login": owner.email, "password": PASSWORD}
    browser.post("/accounts/login/", form)
    assert operator_services.end_two_factor(account=owner, actor=operator)
    assert browser.get(path, follow=True).status_code == 200
    browser.post("/accounts/login/", form)
    assert browser.get("/inbox/").status_code == 200


def test_a_code_counts_once_for_as_long_as_it_is_valid(owner: User) -> None:
    seed = "JBSWY3DPEHPK3PXP"
    TOTP.activate(owner, seed)
    code, found = code_of(seed), []
    for _ in range(2):
        browser = Client()
        browser.post("/accounts/login/", {"login": owner.email, "password": PASSWORD})
        browser.post("/accounts/2fa/authenticate/", {"code": code})
        found.append(browser.get("/inbox/").status_code)
        # what django-allauth remembers is over after 30 s
        cache.delete(f"allauth.mfa.totp.used?user={owner.pk}&code={code}")
    assert found == [200, 302]


@pytest.mark.parametrize("page", ["login/", "signup/", "password/reset/", "logout/"])
def test_a_next_page_that_is_no_url(db: None, page: str) -> None:
    for odd in ("//[", "http://[", "https://[::1"):
        assert Client().get(f"/accounts/{page}", {"next": odd}, follow=True).status_code == 200


@pytest.mark.parametrize("credential", ["[" * 100_000, '{"a":' * 50_000, "9" * 5_000])
def test_json_that_no_browser_makes_is_no_passkey(db: None, credential: str) -> None:
    response = Client().post("/accounts/2fa/webauthn/login/", {"credential": credential})
    assert response.status_code in (200, 302)
