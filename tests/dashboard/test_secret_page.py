"""/dashboard/webhook-secret/: masked, revealed once, set, and rotated."""

import re
from typing import Any
from urllib.parse import unquote

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from accounts import secret_services
from accounts.models import AuditEntry, User
from dashboard.webhook_secret import REVEAL
from tests.conftest import PASSWORD
from tests.portal import long_signed_in, signed_in, words

pytestmark = pytest.mark.django_db
PAGE = "/dashboard/webhook-secret/"
ACTIONS = ["reveal/", "set/", "rotate/", "end-overlap/"]


def secrets_of(account: User) -> list[str]:
    secrets = secret_services.read_secrets(account.pk)
    return [secret.text for secret in secrets.in_use]


def seen(browser: Client) -> str:
    """The version that the page's forms carry."""
    found = re.search(r'name="seen" value="([^"]+)"', browser.get(PAGE).content.decode())
    assert found
    return found[1]


def act(browser: Client, what: str, **fields: str) -> Any:
    form = {"seen": fields.pop("seen", "") or seen(browser), **fields}
    return browser.post(f"{PAGE}{what}/", form, follow=True)


def told(account: User) -> list[str]:
    rows = AuditEntry.objects.filter(account=account, action__startswith="webhook_secret")
    return list(rows.order_by("created_at", "id").values_list("action", flat=True))


class TestRevealing:
    def test_it_is_masked(
        self, owner: User, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        (text,) = secrets_of(owner)
        browser = signed_in(owner)
        with django_assert_num_queries(3):
            source = browser.get(PAGE).content.decode()
        assert text.removeprefix("whsec_") not in source
        assert "•••" in source

    def test_the_password_comes_first_and_it_is_told(self, owner: User) -> None:
        (text,) = secrets_of(owner)
        browser = long_signed_in(owner)
        asked = browser.post(f"{PAGE}reveal/", follow=True)
        asked_at = unquote(asked.redirect_chain[-1][0])
        assert asked_at == f"/accounts/reauthenticate/?next={PAGE}reveal/"
        assert "Confirm it’s you" in words(asked)
        form = {"password": "wrong", "next": f"{PAGE}reveal/"}
        refused = browser.post("/accounts/reauthenticate/", form, follow=True)
        assert text not in refused.content.decode()
        assert told(owner) == []
        form["password"] = PASSWORD
        shown = browser.post("/accounts/reauthenticate/", form, follow=True)
        assert shown.redirect_chain == [(PAGE, 302)]
        assert text in words(shown)
        assert told(owner) == ["webhook_secret.revealed"]
        assert text not in browser.get(PAGE).content.decode()
        assert told(owner) == ["webhook_secret.revealed"]
        again = browser.post(f"{PAGE}reveal/", follow=True)  # asked a moment ago
        assert text in words(again)

    def test_an_old_wish_opens_nothing(self, owner: User) -> None:
        (text,) = secrets_of(owner)
        browser = long_signed_in(owner)
        session = browser.session
        session[REVEAL] = True  # its page was never fetched, and the password is long ago
        session.save()
        assert text not in browser.get(PAGE).content.decode()
        assert told(owner) == []

    def test_both_during_a_rotation(self, owner: User) -> None:
        secrets_of(owner)
        secret_services.rotate_secret(account=owner)
        browser = long_signed_in(owner)
        browser.post(f"{PAGE}reveal/", follow=True)
        form = {"password": PASSWORD, "next": f"{PAGE}reveal/"}
        response = browser.post("/accounts/reauthenticate/", form, follow=True)
        for text in secrets_of(owner):
            assert text in words(response)


class TestSetting:
    @pytest.mark.parametrize("text", ["x" * 8, "x" * 256, "with spaces inside", "<b>ünïcode</b>"])
    def test_it_is_taken_as_it_is(self, owner: User, text: str) -> None:
        answer = act(signed_in(owner), "set", secret=text)
        assert "Secret set." in words(answer)
        assert secrets_of(owner) == [text]
        assert "Set by you" in words(answer)

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("", "Enter a secret"),
            ("short", "8 to 256 characters; this one has 5"),
            ("x" * 257, "this one has 257"),
            (" " * 9, "can’t be blank"),
            ("x" * 8 + "\0", "Null characters are not allowed."),
        ],
    )
    def test_faults_stand_beside_what_was_typed(self, owner: User, text: str, fault: str) -> None:
        before = secrets_of(owner)
        answer = act(signed_in(owner), "set", secret=text)
        assert answer.status_code == 422
        assert fault in words(answer)
        assert secrets_of(owner) == before
        if text.isalnum():
            assert f'value="{text}"' in answer.content.decode()


class TestRotating:
    def test_for_a_day_there_are_two(self, owner: User) -> None:
        (old,) = secrets_of(owner)
        answer = act(signed_in(owner), "rotate")
        assert "Rotation in progress." in words(answer)
        assert secrets_of(owner)[1:] == [old]

    def test_a_double_click_rotates_once(self, owner: User) -> None:
        browser = signed_in(owner)
        version = seen(browser)
        act(browser, "rotate", seen=version)
        both = secrets_of(owner)
        for extra in ({}, {"force": "yes"}):
            answer = act(browser, "rotate", seen=version, **extra)
            assert "The secret changed after you opened this page." in words(answer)
        assert secrets_of(owner) == both

    def test_not_within_another_unless_forced(self, owner: User) -> None:
        browser = signed_in(owner)
        act(browser, "rotate")
        first, _ = secrets_of(owner)
        answer = act(browser, "rotate")
        assert "The old secret from the last rotation is still valid" in words(answer)
        assert secrets_of(owner)[0] == first
        act(browser, "rotate", force="yes")
        assert secrets_of(owner)[1] == first

    def test_ending_the_old_one(self, owner: User) -> None:
        browser = signed_in(owner)
        act(browser, "rotate")
        answer = act(browser, "end-overlap")
        assert "The old secret no longer works." in words(answer)
        assert len(secrets_of(owner)) == 1
        assert told(owner) == ["webhook_secret.rotated", "webhook_secret.rotation_ended"]

    @pytest.mark.parametrize("what", ["set", "rotate", "end-overlap"])
    @pytest.mark.parametrize("version", ["x", "2020-01-01T00:00:00+00:00", "2020-01-01"])
    def test_an_old_page_changes_nothing(self, owner: User, what: str, version: str) -> None:
        before = secrets_of(owner)
        answer = act(signed_in(owner), what, seen=version, secret="a secret of my own")
        assert "The secret changed after you opened this page." in words(answer)
        assert secrets_of(owner) == before


def test_a_lost_encryption_key(owner: User, settings: Settings) -> None:
    secrets_of(owner)
    settings.ENCRYPTION_KEYS = ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
    browser = signed_in(owner)
    browser.post(f"{PAGE}reveal/")
    form = {"password": PASSWORD, "next": f"{PAGE}reveal/"}
    for answer in (
        browser.post("/accounts/reauthenticate/", form, follow=True),
        act(browser, "rotate"),
    ):
        assert "The secret can’t be read" in words(answer)
    act(browser, "set", secret="a secret of my own")
    assert secrets_of(owner) == ["a secret of my own"]


def test_an_outsider_has_a_secret_of_their_own(owner: User, outsider: User) -> None:
    before = secrets_of(owner)
    browser = signed_in(outsider)
    act(browser, "rotate")
    act(browser, "set", secret="a secret of my own", seen=seen(browser))
    assert secrets_of(owner) == before


@pytest.mark.parametrize("what", ["", *ACTIONS])
def test_strangers_sign_in_first(what: str) -> None:
    assert Client().get(PAGE + what)["Location"] == f"/accounts/login/?next={PAGE}{what}"


@pytest.mark.parametrize("what", ACTIONS)
def test_coming_by_get_leads_to_the_page(owner: User, what: str) -> None:
    browser = signed_in(owner)
    assert browser.get(PAGE + what)["Location"] == PAGE
    assert browser.put(PAGE + what).status_code == 405


class TestPasting:
    @pytest.mark.parametrize("around", ["", " ", "\u200b", "\u00a0", "\ufeff\n"])
    def test_the_issued_one_means_itself(self, owner: User, around: str) -> None:
        before = secret_services.read_secrets(owner.pk)
        act(signed_in(owner), "set", secret=f"{around}{before.current.text}{around}")
        assert secret_services.read_secrets(owner.pk).current == before.current

    @pytest.mark.parametrize("text", ["whsec_!!!!!!!!", "whsec_" + "QUJD" * 8, "whsec_issued?"])
    def test_others_like_it_are_refused(self, owner: User, text: str) -> None:
        before = secret_services.read_secrets(owner.pk)
        answer = act(signed_in(owner), "set", secret=text)
        assert answer.status_code == 422
        assert "Only secrets that we issued start with whsec_" in words(answer)
        assert secret_services.read_secrets(owner.pk) == before

    def test_what_stands_around_it_is_dropped(self, owner: User) -> None:
        act(signed_in(owner), "set", secret="\u200b my secret \u00a0")
        assert secrets_of(owner) == ["my secret"]

    def test_an_invisible_character_inside_is_refused(self, owner: User) -> None:
        answer = act(signed_in(owner), "set", secret="my\u200bsecret")
        assert "The secret has an invisible character inside." in words(answer)
