"""Passkeys: what the service accepts from a browser, and from whoever pretends to be one."""

import html
import json
import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from pytest_django import Settings

from accounts.models import AuditEntry, User
from tests.conftest import PASSWORD
from tests.portal import long_signed_in, signed_in, words
from tests.signin.authenticator import FLAG, SITE, Device, keep_passkey

pytestmark = pytest.mark.django_db
INDEX = "/accounts/2fa/"
ADD, LOGIN = f"{INDEX}webauthn/add/", f"{INDEX}webauthn/login/"


@pytest.fixture(autouse=True)
def _at_home(settings: Settings) -> None:
    settings.SITE_URL = SITE
    settings.ALLOWED_HOSTS = ["localhost", "testserver", "other.example"]


def options_on(page: Any) -> dict[str, Any]:
    source = page.content.decode()
    found = re.search(r'id="passkey-options" type="application/json">(.*?)</script>', source)
    assert found
    return dict(json.loads(html.unescape(found[1]))["publicKey"])


def add(browser: Client, device: Device, **change: Any) -> Any:
    credential = device.create(options_on(browser.get(ADD))) | change
    form = {"name": "My phone", "credential": json.dumps(credential)}
    return browser.post(ADD, form, follow=True)


def login_options(browser: Client) -> dict[str, Any]:
    response = browser.get(LOGIN, headers={"accept": "application/json"})
    return dict(response.json()["request_options"]["publicKey"])


def sign_in(browser: Client, device: Device, user: User, **change: Any) -> Any:
    credential = device.get(login_options(browser), user, **change)
    return browser.post(LOGIN, {"credential": json.dumps(credential)}, follow=True)


def is_in(browser: Client) -> bool:
    return bool(browser.get("/inbox/").status_code == 200)


class TestAdding:
    def test_it_belongs_to_the_host_of_the_site(self, owner: User) -> None:
        page = signed_in(owner).get(ADD, headers={"host": "other.example"})
        options = options_on(page)
        assert options["rp"] == {"id": "localhost", "name": "Review Loop"}
        wanted = {"residentKey": "required", "userVerification": "required"}
        assert wanted.items() <= options["authenticatorSelection"].items()
        assert "no-store" in page["Cache-Control"]

    def test_it_asks_who_it_is(self, owner: User) -> None:
        asked = long_signed_in(owner).get(ADD)
        assert asked["Location"].startswith("/accounts/reauthenticate/")

    @pytest.mark.django_db(transaction=True)
    def test_recovery_codes_come_with_it(self, owner: User) -> None:
        browser = signed_in(owner)
        shown = add(browser, Device())
        assert "Passkey added." in words(shown)
        assert len(re.findall(r"\b\d{8}\b", words(shown))) == 10
        assert "My phone Never used" in words(browser.get(INDEX))
        assert "security.passkey_added" in AuditEntry.objects.values_list("action", flat=True)

    def test_nobody_touched_or_proved_anything(self, owner: User) -> None:
        device = Device()
        device.flags = FLAG.UP
        assert "not accepted" in words(add(signed_in(owner), device))
        assert not Authenticator.objects.exists()

    @pytest.mark.parametrize("credential", ["", "1", "[]", "{}", '{"id": 1}', "null", '"\\u0000"'])
    def test_nonsense(self, owner: User, credential: str) -> None:
        browser = signed_in(owner)
        browser.get(ADD)
        response = browser.post(ADD, {"name": "x", "credential": credential})
        assert response.status_code == 200
        assert "not accepted" in words(response)

    @pytest.mark.parametrize("part", ["clientDataJSON", "attestationObject"])
    def test_bytes_that_no_device_sends(self, owner: User, part: str) -> None:
        browser, device = signed_in(owner), Device()
        credential = device.create(options_on(browser.get(ADD)))
        whole = credential["response"][part]
        for broken in (whole[:9], whole[:40], whole[:-4], "A" * 40, "____", "é", whole[::-1]):
            credential["response"][part] = broken
            form = {"name": "x", "credential": json.dumps(credential)}
            assert browser.post(ADD, form).status_code == 200
        assert not Authenticator.objects.exists()

    @pytest.mark.parametrize("text", ["\0", "\ud800"])
    def test_a_text_that_no_database_stores(self, owner: User, text: str) -> None:
        told = add(signed_in(owner), Device(), clientExtensionResults={"x": [text]})
        assert "not accepted" in words(told)
        assert not Authenticator.objects.exists()

    def test_an_old_challenge(self, owner: User) -> None:
        browser, device = signed_in(owner), Device()
        old = device.create(options_on(browser.get(ADD)))
        browser.get(ADD)
        response = browser.post(ADD, {"name": "x", "credential": json.dumps(old)})
        assert "not accepted" in words(response)
        assert not Authenticator.objects.exists()


class TestSigningIn:
    def test_without_password_and_code(self, owner: User) -> None:
        device, browser = keep_passkey(owner), Client()
        assert sign_in(browser, device, owner).redirect_chain == [("/inbox/", 302)]
        assert AuditEntry.objects.get(action="sign_in.done").account_id == owner.pk
        assert browser.get(ADD).status_code == 200  # who has just shown a passkey is not asked

    def test_an_inactive_account_stays_out(self, owner: User) -> None:
        device, browser = keep_passkey(owner), Client()
        User.objects.update(is_active=False)
        assert "This account is disabled" in words(sign_in(browser, device, owner))
        assert not is_in(browser)

    def test_somebody_elses_passkey(self, owner: User, member: User) -> None:
        keep_passkey(owner)
        thief, browser = Device(), Client()
        assert "not accepted" in words(sign_in(browser, thief, owner))
        device = keep_passkey(member)
        assert "not accepted" in words(sign_in(browser, device, owner))
        assert not is_in(browser)

    def test_a_device_that_asked_nobody(self, owner: User) -> None:
        device, browser = keep_passkey(owner), Client()
        device.flags = FLAG.UP
        assert "not accepted" in words(sign_in(browser, device, owner))

    def test_an_answer_counts_once_and_in_its_browser_alone(self, owner: User) -> None:
        device, browser, other = keep_passkey(owner), Client(), Client()
        credential = json.dumps(device.get(login_options(browser), owner))
        login_options(other)
        other.post(LOGIN, {"credential": credential})
        assert not is_in(other)
        browser.post(LOGIN, {"credential": credential})
        assert is_in(browser)
        browser.post("/accounts/logout/")
        browser.post(LOGIN, {"credential": credential})
        assert not is_in(browser)

    @pytest.mark.parametrize("handle", [b"", b"\0", b"\xff", b"0" * 24, b"x" * 300])
    def test_an_unknown_person(self, owner: User, handle: bytes) -> None:
        device, browser = keep_passkey(owner), Client()
        assert "not accepted" in words(sign_in(browser, device, owner, handle=handle))

    @pytest.mark.parametrize(
        "credential", ["", "1", "[]", "{}", '{"id": 1}', "null", '{"response": []}']
    )
    def test_nonsense(self, owner: User, credential: str) -> None:
        browser = Client()
        login_options(browser)
        response = browser.post(LOGIN, {"credential": credential}, follow=True)
        assert "not accepted" in words(response)

    def test_guessing_ends(self) -> None:
        statuses = [Client().post(LOGIN, {"credential": "{}"}).status_code for _ in range(11)]
        assert statuses[-1] == 429


class TestSecondStep:
    def test_the_password_alone_is_not_enough(self, owner: User) -> None:
        device, browser = keep_passkey(owner), Client()
        form = {"login": owner.email, "password": PASSWORD}
        asked = browser.post("/accounts/login/", form, follow=True)
        assert not is_in(browser)
        credential = device.get(options_on(asked), owner)
        page = f"{INDEX}authenticate/"
        wrong = {**credential, "id": "AAAA", "rawId": "AAAA"}
        told = browser.post(page, {"credential": json.dumps(wrong)})
        assert "not accepted" in words(told)
        credential = device.get(options_on(told), owner)
        browser.post(page, {"credential": json.dumps(credential)})
        assert is_in(browser)


class TestTheOthersPasskeys:
    @pytest.mark.parametrize("what", ["edit", "remove"])
    def test_nobody_touches_them(self, owner: User, member: User, what: str) -> None:
        keep_passkey(owner)
        pk = Authenticator.objects.get().pk
        browser = signed_in(member)
        for path in (f"{INDEX}webauthn/keys/{pk}/{what}/", f"{INDEX}webauthn/keys/0/{what}/"):
            assert browser.get(path).status_code == 404
            assert browser.post(path, {"name": "mine"})["Location"] == INDEX
        assert Authenticator.objects.get().data["name"] == "Phone"

    @pytest.mark.parametrize("name", ["", " ", "x" * 61, "a\0b"])
    def test_a_name_has_limits(self, owner: User, name: str) -> None:
        keep_passkey(owner)
        path = f"{INDEX}webauthn/keys/{Authenticator.objects.get().pk}/edit/"
        response = signed_in(owner).post(path, {"name": name})
        assert response.status_code == 200
        assert 'aria-invalid="true"' in response.content.decode()
