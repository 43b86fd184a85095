"""A form of signing in that is under way while the account changes."""

import threading
from collections.abc import Callable

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.core import mail
from django.core.cache import cache
from django.db import connection
from django.test import Client

from accounts import operator_services
from accounts.erasing import is_erased
from accounts.models import User
from accounts.proofs import AddressUnavailable, confirm_address
from accounts.secured import lock_account
from accounts.services import save_profile
from reviews import erasing
from signin.mfa import TotpSecondStepForm
from tests.backends import waiting_for_locks
from tests.conftest import PASSWORD
from tests.portal import signed_in, unconfirmed, words
from tests.signin.authenticator import keep_passkey
from tests.signin.test_taking_over import link_in
from tests.signin.test_two_factor import INDEX, OFF, ON, SEED, code_of, seed_on
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
NEW, STRANGERS = "quite another battery", "a battery of theirs"
CHANGE_PAGE, SECOND_STEP = "/accounts/password/change/", f"{INDEX}authenticate/"


def typed_twice(password: str) -> dict[str, str]:
    return {"password1": password, "password2": password}


CHANGE = {"oldpassword": PASSWORD, **typed_twice(NEW)}


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
    response = browser.post(CHANGE_PAGE, CHANGE, follow=True)
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


def past_the_password(user: User) -> Client:
    """A browser in which the password was right, and which is asked for a code."""
    browser = Client()
    browser.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    return browser


def test_the_code_after_an_old_password_lets_nobody_in(owner: User) -> None:
    TOTP.activate(owner, SEED)
    browser = past_the_password(owner)
    owner.set_password(NEW)
    owner.save()
    response = browser.post(SECOND_STEP, {"code": code_of(SEED)}, follow=True)
    assert "Your password has changed. Sign in again." in words(response)
    assert browser.get("/inbox/").status_code == 302


def test_a_code_is_checked_while_codes_are_turned_off(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = signed_in(owner)
    TOTP.activate(owner, SEED)
    browser = past_the_password(owner)
    check_code = TotpSecondStepForm.clean_code
    turning_off = threading.Thread(target=do_elsewhere, args=[lambda: settings.post(OFF)])

    def check_slowly(form: TotpSecondStepForm) -> str:
        code = check_code(form)
        turning_off.start()
        wait_until(lambda: waiting_for_locks() or not turning_off.is_alive())
        return code

    monkeypatch.setattr(TotpSecondStepForm, "clean_code", check_slowly)
    browser.post(SECOND_STEP, {"code": code_of(SEED)})
    turning_off.join(30)
    assert browser.get("/inbox/").status_code == 200
    assert not Authenticator.objects.filter(user=owner).exists()


@pytest.mark.parametrize("button", ["action_add", "action_primary"])
def test_a_deleted_account_gets_no_address_back(
    owner: User, monkeypatch: pytest.MonkeyPatch, button: str
) -> None:
    EmailAddress.objects.create(user=owner, email="second@example.com", verified=True)
    browser = signed_in(owner)

    def delete_first(user: User) -> None:
        do_elsewhere(lambda: erasing.begin(person=User.objects.get(pk=owner.pk)))
        lock_account(user)

    monkeypatch.setattr("signin.locking.lock_account", delete_first)
    address = "third@example.com" if button == "action_add" else "second@example.com"
    browser.post("/accounts/email/", {button: "", "email": address})
    assert is_erased(User.objects.get(pk=owner.pk))
    assert not EmailAddress.objects.filter(user=owner).exists()


def test_a_deleted_account_confirms_no_address(owner: User) -> None:
    recognized = User.objects.get(pk=owner.pk)
    erasing.begin(person=owner)
    with pytest.raises(AddressUnavailable):
        confirm_address(user=recognized, address="second@example.com")
    assert not EmailAddress.objects.filter(user=owner).exists()


def test_a_reset_by_link_ends_what_a_stranger_has_under_way(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = unconfirmed(email="nora@example.org", name="Nora", password=PASSWORD)
    nora = Client()
    nora.post("/accounts/password/reset/", {"email": "nora@example.org"})
    opened = nora.get(link_in(mail.outbox[-1], "reset/key"), follow=True)
    form = opened.redirect_chain[-1][0]
    resetting = threading.Thread(
        target=do_elsewhere, args=[lambda: nora.post(form, typed_twice(NEW))]
    )
    is_proven, is_changed = threading.Event(), threading.Event()
    hash_password = User.set_password

    def hash_slowly(user: User, password: str | None) -> None:
        hash_password(user, password)
        if password == STRANGERS:
            resetting.start()
            is_proven.wait(30)
        if password == NEW:
            is_proven.set()
            wait_until(lambda: waiting_for_locks() or is_changed.is_set())

    monkeypatch.setattr(User, "set_password", hash_slowly)
    stranger.post(CHANGE_PAGE, {"oldpassword": PASSWORD, **typed_twice(STRANGERS)})
    is_changed.set()
    resetting.join(30)
    assert can_sign_in("nora@example.org", NEW)
    assert not can_sign_in("nora@example.org", STRANGERS)


@pytest.mark.parametrize("kind", ["app", "passkey"])
def test_a_second_click_removes_nothing_and_says_so(owner: User, kind: str) -> None:
    browser = signed_in(owner)
    if kind == "app":
        TOTP.activate(owner, SEED)
        path = OFF
    else:
        keep_passkey(owner)
        row = Authenticator.objects.get(user=owner, type=Authenticator.Type.WEBAUTHN)
        path = f"{INDEX}webauthn/keys/{row.pk}/remove/"
    browser.post(path)
    assert not Authenticator.objects.filter(user=owner).exists()
    assert "That was already removed." in words(browser.post(path, follow=True))


def test_a_profile_names_nobody_who_was_erased(owner: User) -> None:
    recognized = User.objects.get(pk=owner.pk)
    erasing.begin(person=owner)
    save_profile(user=recognized, name="Ada Lovelace", time_zone="Europe/Berlin")
    assert User.objects.get(pk=owner.pk).name.startswith("Erased person")


@pytest.mark.parametrize("path", [SECOND_STEP, "/accounts/login/", "/dashboard/"])
def test_who_waits_for_a_second_step_that_is_turned_off_signs_in_again(
    owner: User, operator: User, path: str
) -> None:
    TOTP.activate(owner, SEED)
    browser, form = Client(), {"login": owner.email, "password": PASSWORD}
    browser.post("/accounts/login/", form)
    assert operator_services.end_two_factor(account=owner, actor=operator)
    assert browser.get(path, follow=True).status_code == 200
    browser.post("/accounts/login/", form)
    assert browser.get("/inbox/").status_code == 200


def test_a_code_counts_once_for_as_long_as_it_is_valid(owner: User) -> None:
    TOTP.activate(owner, SEED)
    code, found = code_of(SEED), []
    for _ in range(2):
        browser = Client()
        browser.post("/accounts/login/", {"login": owner.email, "password": PASSWORD})
        browser.post(SECOND_STEP, {"code": code})
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
