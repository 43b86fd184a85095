"""Two-factor sign-in: its secrets are encrypted, and change keys with the others."""

import io
import json
import re
import time
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from cryptography.fernet import Fernet
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts import vault
from accounts.models import AuditEntry, User
from signin.mfa import TwoFactorAdapter
from tests.conftest import PASSWORD
from tests.portal import confirmed, long_signed_in, words

pytestmark = pytest.mark.django_db
SEED = "JBSWY3DPEHPK3PXP"
INDEX = "/accounts/2fa/"
ON, OFF = f"{INDEX}totp/activate/", f"{INDEX}totp/deactivate/"
NEW_CODES = f"{INDEX}recovery-codes/generate/"
PATHS = [
    "",
    "totp/activate/",
    "totp/deactivate/",
    "recovery-codes/",
    "recovery-codes/generate/",
    "recovery-codes/download/",
]
OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))


def test_secrets_are_encrypted_at_rest(owner: User) -> None:
    TOTP.activate(owner, SEED)
    codes = RecoveryCodes.activate(owner).get_unused_codes()
    rows = list(Authenticator.objects.filter(user_id=owner.pk).order_by("type"))
    stored = json.dumps([row.data for row in rows])
    assert SEED not in stored
    assert not any(code in stored for code in codes)
    assert vault.open_sealed(rows[1].data["secret"].encode()) == SEED


def test_keys_change_one_after_the_other(owner: User, settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    TOTP.activate(owner, SEED)
    codes = RecoveryCodes.activate(owner).get_unused_codes()
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    call_command("rotatekeys", stderr=io.StringIO())
    settings.ENCRYPTION_KEYS = [NEW]
    recovery, totp = Authenticator.objects.filter(user_id=owner.pk).order_by("type")
    assert TwoFactorAdapter().decrypt(totp.data["secret"]) == SEED
    assert RecoveryCodes(recovery).get_unused_codes() == codes
    settings.ENCRYPTION_KEYS = [OLD]
    with pytest.raises(vault.Unreadable):
        RecoveryCodes(recovery).get_unused_codes()


def code_of(seed: str, step: int = 0) -> str:
    """What an authenticator app would show; another step is another half minute."""
    return str(format_hotp_value(hotp_value(seed, int(time.time()) // 30 + step)))


def seed_on(answer: Any) -> str:
    (seed,) = re.findall(r">([A-Z2-7]{32})<", answer.content.decode())
    return str(seed)


class TestThePages:
    def confirm(self, browser: Client, path: str) -> Any:
        """Through the question for the password that stands before a delicate page."""
        asked = browser.get(path, follow=True)
        assert "Confirm it’s you" in words(asked)
        form = {"password": PASSWORD, "next": path}
        return browser.post("/accounts/reauthenticate/", form, follow=True)

    def turn_on(self, browser: Client) -> tuple[str, Any]:
        seed = seed_on(self.confirm(browser, ON))
        return seed, browser.post(ON, {"code": code_of(seed)}, follow=True)

    @pytest.mark.django_db(transaction=True)
    def test_on_with_codes_in_with_each_and_off(self, owner: User) -> None:
        browser = long_signed_in(owner)
        assert "Authenticator app Off" in words(browser.get(INDEX))
        seed, shown = self.turn_on(browser)
        codes = re.findall(r"\b\d{8}\b", words(shown))
        assert len(codes) == 10
        assert "Two-factor sign-in is on." in words(shown)
        assert "10 left" in words(browser.get(INDEX))
        wide = code_of(seed, 1).translate({each: each + 0xFEE0 for each in range(0x30, 0x3A)})
        for code in (f"{wide[:3]}\u202f{wide[3:]}\u200b", f"{codes[0][:4]}–{codes[0][4:]}."):
            newcomer = Client()
            form = {"login": owner.email, "password": PASSWORD, "next": "/dashboard/keys/"}
            asked = newcomer.post("/accounts/login/", form, follow=True)
            assert "Two-factor code" in words(asked)
            assert newcomer.get("/dashboard/keys/").status_code == 302
            response = newcomer.post("/accounts/2fa/authenticate/", {"code": code}, follow=True)
            assert response.redirect_chain == [("/dashboard/keys/", 302)]
        assert "9 left" in words(browser.get(INDEX))
        browser.post(OFF)
        assert "Authenticator app Off" in words(browser.get(INDEX))
        told = AuditEntry.objects.filter(account=owner, action__startswith="security.")
        assert list(told.order_by("created_at", "id").values_list("action", flat=True)) == [
            "security.two_factor_on",
            "security.two_factor_off",
        ]

    def test_the_session_does_not_tell_the_secret(self, owner: User) -> None:
        browser = long_signed_in(owner)
        seed = seed_on(self.confirm(browser, ON))
        assert seed not in json.dumps(dict(browser.session.items()))
        wrong = browser.post(ON, {"code": "000000"})
        assert seed_on(wrong) == seed  # the app knows this one by now
        assert seed_on(browser.get(ON)) != seed

    def test_a_code_works_once(self, owner: User) -> None:
        seed, _ = self.turn_on(long_signed_in(owner))
        code, landings = code_of(seed, 1), []
        for _ in range(2):
            browser = Client()
            browser.post("/accounts/login/", {"login": owner.email, "password": PASSWORD})
            landings.append(browser.post("/accounts/2fa/authenticate/", {"code": code}).status_code)
        assert landings == [302, 200]

    def test_a_wrong_code_is_told_and_guessing_ends(self, owner: User) -> None:
        TOTP.activate(owner, SEED)
        browser = Client()
        browser.post("/accounts/login/", {"login": owner.email, "password": PASSWORD})
        told = [
            words(browser.post("/accounts/2fa/authenticate/", {"code": "000000"})) for _ in range(6)
        ]
        assert "Incorrect code." in told[0]
        assert "Too many failed login attempts." in told[-1]
        assert AuditEntry.objects.filter(action="security.second_step_failed").count() == 5

    def test_without_a_confirmed_address_too(self, owner: User) -> None:
        """A service without a mail server can confirm none; where it can, the first proof of the
        mailbox turns it off (test_taking_over)."""
        owner.emailaddress_set.update(verified=False)  # type: ignore[attr-defined]
        self.turn_on(long_signed_in(owner))
        assert Authenticator.objects.filter(user=owner, type="totp").exists()

    def test_addresses_can_change_while_it_is_on(self, owner: User) -> None:
        TOTP.activate(owner, SEED)
        form = {"action_add": "", "email": "second@example.com"}
        page = words(confirmed(owner).post("/accounts/email/", form, follow=True))
        assert "We sent a confirmation link to second@example.com." in page

    def test_new_recovery_codes(self, owner: User) -> None:
        browser = long_signed_in(owner)
        _, shown = self.turn_on(browser)
        assert "Your 10 unused codes stop working" in words(browser.get(NEW_CODES))
        fresh = browser.post(NEW_CODES, follow=True)
        old, new = (set(re.findall(r"\b\d{8}\b", words(each))) for each in (shown, fresh))
        assert len(new) == 10
        assert not old & new

    def test_the_second_factor_confirms_too(self, owner: User) -> None:
        TOTP.activate(owner, SEED)
        browser = long_signed_in(owner)
        asked = browser.get(OFF, follow=True)
        assert 'href="/accounts/2fa/reauthenticate/' in asked.content.decode()
        form = {"code": code_of(SEED), "next": OFF}
        response = browser.post("/accounts/2fa/reauthenticate/", form, follow=True)
        assert "Turn off two-factor sign-in?" in words(response)

    @pytest.mark.parametrize("path", [*PATHS[:-1], "reauthenticate/"])
    def test_no_page_asks_again_and_again(self, owner: User, path: str) -> None:
        if path != "totp/activate/":
            TOTP.activate(owner, SEED)
            RecoveryCodes.activate(owner)
        browser = confirmed(owner)
        with CaptureQueriesContext(connection) as asked:
            assert browser.get(INDEX + path).status_code == 200
        looks = [each["sql"] for each in asked if 'FROM "mfa_authenticator"' in each["sql"]]
        assert len(looks) <= 2, looks  # the kinds, and the one that the page is about

    @pytest.mark.parametrize("path", PATHS)
    def test_every_page_is_one_of_ours(self, owner: User, path: str) -> None:
        browser = long_signed_in(owner)
        assert Client().get(INDEX + path)["Location"].startswith("/accounts/login/?next=")
        if path != "totp/activate/":
            TOTP.activate(owner, SEED)
            RecoveryCodes.activate(owner)
        if path:
            self.confirm(browser, INDEX + path)
        response = browser.get(INDEX + path, follow=True)
        assert response.status_code == 200
        if not path.endswith("download/"):
            source = response.content.decode()
            assert source.count("<h1") == 1
            assert "<script>" not in source
            assert "json" not in re.findall(r"<script[^>]*>", source)
