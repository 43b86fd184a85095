"""/dashboard/keys/: creating a key, showing it once, and ending it."""

import html
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import PERMISSIONS, ApiKey, Usage, User
from accounts.services import create_api_key, set_key_state
from tests.conftest import Api
from tests.portal import signed_in, words

pytestmark = pytest.mark.django_db
LIST, NEW = "/dashboard/keys/", "/dashboard/keys/new/"


def token_of(browser: Client, path: str) -> str:
    """What the form on a page carries."""
    (token,) = re.findall(r'name="token" value="([^"]+)"', browser.get(path).content.decode())
    return str(token)


def create(browser: Client, **fields: Any) -> Any:
    form = {"name": "Refund bot", "permissions": ["loops:read"], **fields}
    form.setdefault("token", token_of(browser, NEW))
    return browser.post(NEW, form, follow=True)


def secret_on(answer: Any) -> str:
    found = re.search(r"rl_live_[0-9A-Za-z]{36}", answer.content.decode())
    assert found, words(answer)
    return found[0]


def page_of(key: ApiKey, what: str = "") -> str:
    return f"{LIST}{key.pk}/{what}"


def used(key: ApiKey, hours_ago: int, calls: int) -> None:
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    then = hour - timedelta(hours=hours_ago)
    Usage.objects.create(account_id=key.user_id, key=key, hour=then, calls=calls, last_at=then)


class TestMaking:
    def test_it_is_shown_once(self, owner: User, api: type[Api]) -> None:
        browser = signed_in(owner)
        answer = create(browser)
        key = ApiKey.objects.get()
        assert answer.redirect_chain == [(page_of(key, "secret/"), 302)]
        secret = secret_on(answer)
        assert api(secret).get("/v1/test").json()["data"]["permissions"] == ["loops:read"]
        assert f'-H "Authorization: Bearer {secret}"' in words(answer)
        assert f'--header "Authorization: Bearer {secret}"' in words(answer)  # connects Claude
        code = html.unescape(answer.content.decode())
        files = re.findall(r"<code>({.*?})</code>", code, re.DOTALL)
        servers = [server for file in files for server in json.loads(file).popitem()[1].values()]
        assert len(servers) == 3  # Cursor, VS Code, others
        for server in servers:
            assert server["url"] == f"{settings.SITE_URL}/mcp"
            assert server["headers"] == {"Authorization": f"Bearer {secret}"}
        assert "no-store" in answer["Cache-Control"]
        again = browser.get(page_of(key, "secret/"), follow=True)  # a reload, or the way back
        assert again.redirect_chain == [(page_of(key), 302)]
        assert "A key is shown only once." in words(again)
        assert secret not in again.content.decode()

    def test_a_look_ahead_does_not_use_it_up(self, owner: User) -> None:
        browser = signed_in(owner)
        form = {"name": "CI", "permissions": [], "token": token_of(browser, NEW)}
        path = browser.post(NEW, form)["Location"]
        browser.head(path)
        secret_on(browser.get(path))

    def test_a_form_sent_twice_makes_one_key_and_still_shows_it(self, owner: User) -> None:
        browser = signed_in(owner)
        form = {"name": "CI", "permissions": [], "token": token_of(browser, NEW)}
        first, second = (browser.post(NEW, form) for _ in range(2))
        assert first["Location"] == second["Location"]
        secret_on(browser.get(second["Location"]))
        third = browser.post(NEW, form, follow=True)
        assert "A key is shown only once." in words(third)
        assert ApiKey.objects.count() == 1

    def test_having_stored_it_the_browser_forgets(self, owner: User) -> None:
        browser = signed_in(owner)
        create(browser)
        key = ApiKey.objects.get()
        assert browser.cookies["fresh-key"].value
        assert browser.cookies["fresh-key"]["httponly"]
        assert browser.cookies["fresh-key"]["path"] == LIST
        browser.post(page_of(key, "stored/"))
        assert not browser.cookies["fresh-key"].value

    def test_the_browser_cannot_read_what_it_carries(self, owner: User) -> None:
        browser = signed_in(owner)
        token = token_of(browser, NEW)
        secret = secret_on(create(browser, token=token))
        assert secret not in token
        assert secret[8:20] not in token

    def test_another_accounts_form_makes_nothing(self, owner: User, outsider: User) -> None:
        token = token_of(signed_in(outsider), NEW)
        answer = create(signed_in(owner), token=token)
        assert answer.status_code == 422
        assert "This page had expired." in words(answer)
        assert 'value="Refund bot"' in answer.content.decode()
        assert not ApiKey.objects.exists()

    @pytest.mark.parametrize(
        ("change", "fault"),
        [
            ({"name": " "}, "Give the key a name"),
            ({"name": "x" * 101}, "at most 100 characters"),
            ({"name": "a\0b"}, "Null characters are not allowed."),
            ({"permissions": ["loops:paint"]}, "loops:paint is not one of the available choices."),
            ({"expires_at": "2020-01-01T00:00"}, "Choose a time in the future"),
            ({"expires_at": "soon"}, "Enter a date and time"),
        ],
    )
    def test_faults_stand_beside_what_was_typed(
        self, owner: User, change: dict[str, Any], fault: str
    ) -> None:
        answer = create(signed_in(owner), **change)
        assert answer.status_code == 422
        assert fault in words(answer)
        source = answer.content.decode()
        assert 'aria-invalid="true"' in source or "data-invalid" in source
        assert not ApiKey.objects.exists()

    def test_the_expiry_is_in_the_holders_time_zone(self, owner: User) -> None:
        owner.time_zone = "Asia/Tokyo"
        owner.save()
        browser = signed_in(owner)
        assert "Asia/Tokyo" in words(browser.get(NEW))
        create(browser, expires_at="2099-03-31T18:00")
        assert ApiKey.objects.get().expires_at == datetime(2099, 3, 31, 9, tzinfo=UTC)


class TestTheList:
    def test_what_it_tells(self, owner: User, outsider: User) -> None:
        key, secret = create_api_key(user=owner, name="CI", permissions=["loops:read"])
        create_api_key(user=outsider, name="Theirs")
        used(key, 0, 7)
        response = signed_in(owner).get(LIST)
        said = words(response)
        assert f"CI {key} 7 of 100 Active loops:read 7 of 100" in said
        assert "Theirs" not in said
        assert secret not in response.content.decode()

    def test_deleted_keys_are_gone(self, owner: User) -> None:
        key, _ = create_api_key(user=owner, name="CI")
        set_key_state(key=key, state=ApiKey.State.DELETED)
        assert "No API keys yet" in words(signed_in(owner).get(LIST))

    def test_pages_neither_repeat_nor_skip(
        self, owner: User, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        for number in range(60):
            key, _ = create_api_key(user=owner, name=f"Key {number:02}")
            used(key, 1, 3)
        browser, path, seen = signed_in(owner), LIST, []
        while path:
            with django_assert_num_queries(3):
                source = browser.get(path).content.decode()
            seen += re.findall(r"Key \d\d", source)
            older = re.search(r'href="(\?before=[0-9a-f-]+)"', source)
            path = LIST + older[1] if older else ""
        assert seen == [f"Key {number:02}" for number in range(59, -1, -1)]


class TestStates:
    def test_off_and_on(self, owner: User, api: type[Api]) -> None:
        key, secret = create_api_key(user=owner, name="CI")
        browser = signed_in(owner)
        for state, status in (("inactive", 401), ("inactive", 401), ("active", 200)):
            browser.post(page_of(key, "switch/"), {"state": state})
            assert api(secret).get("/v1/test").status_code == status

    @pytest.mark.parametrize(
        ("what", "state", "landing"),
        [("revoke", "revoked", "{}"), ("delete", "deleted", LIST)],
    )
    def test_ending_wants_the_name(
        self, owner: User, api: type[Api], what: str, state: str, landing: str
    ) -> None:
        key, secret = create_api_key(user=owner, name="Refund  bot")
        used(key, 1, 1200)
        browser = signed_in(owner)
        assert "It made 1,200 calls in the last 24 hours." in words(
            browser.get(page_of(key, f"{what}/"))
        )
        wrong = browser.post(page_of(key, f"{what}/"), {"typed": "refund bot"})
        assert wrong.status_code == 422
        assert 'value="refund bot"' in wrong.content.decode()
        assert "The name doesn’t match." in words(wrong)
        assert api(secret).get("/v1/test").status_code == 200
        done = browser.post(page_of(key, f"{what}/"), {"typed": "Refund bot"})
        assert done["Location"] == landing.format(page_of(key))
        assert api(secret).get("/v1/test").status_code == 401
        key.refresh_from_db()
        assert key.state == state

    def test_a_name_copied_from_its_page_is_the_name(self, owner: User) -> None:
        key, _ = create_api_key(user=owner, name="מפתח")
        page = signed_in(owner).get(page_of(key, "revoke/")).content.decode()
        (copied,) = re.findall("Type “(.*)” to confirm", page)
        assert copied == "\u2068מפתח\u2069"
        signed_in(owner).post(page_of(key, "revoke/"), {"typed": copied})
        key.refresh_from_db()
        assert key.state == "revoked"

    @pytest.mark.parametrize("what", ["", "secret/", "stored/", "switch/", "roll/", "delete/"])
    def test_deleted_meanwhile_is_a_sentence(self, owner: User, what: str) -> None:
        key, _ = create_api_key(user=owner, name="CI")
        set_key_state(key=key, state=ApiKey.State.DELETED)
        browser = signed_in(owner)
        response = browser.post(page_of(key, what), follow=True)
        if response.status_code == 405:
            response = browser.get(page_of(key, what), follow=True)
        assert response.redirect_chain == [(LIST, 302)]
        assert "The key CI was deleted." in words(response)

    def test_revoked_meanwhile_is_a_sentence(self, owner: User) -> None:
        key, _ = create_api_key(user=owner, name="CI")
        set_key_state(key=key, state=ApiKey.State.REVOKED)
        response = signed_in(owner).post(page_of(key, "switch/"), {"state": "active"}, follow=True)
        assert "The key CI was already revoked." in words(response)


class TestRolling:
    def roll(self, browser: Client, key: ApiKey, overlap: str = "24", token: str = "") -> Any:
        form = {"overlap": overlap, "token": token or token_of(browser, page_of(key))}
        return browser.post(page_of(key, "roll/"), form, follow=True)

    @pytest.mark.parametrize(("overlap", "status"), [("0", 401), ("1", 200), ("168", 200)])
    def test_the_new_key_is_shown_once(
        self, owner: User, api: type[Api], overlap: str, status: int
    ) -> None:
        old, old_secret = create_api_key(user=owner, name="CI")
        answer = self.roll(signed_in(owner), old, overlap)
        assert api(secret_on(answer)).get("/v1/test").status_code == 200
        assert api(old_secret).get("/v1/test").status_code == status
        old.refresh_from_db()
        assert old.expires_at is not None
        assert old.expires_at <= timezone.now() + timedelta(hours=int(overlap))

    def test_twice_is_once(self, owner: User) -> None:
        old, _ = create_api_key(user=owner, name="CI")
        browser = signed_in(owner)
        token = token_of(browser, page_of(old))
        secret_on(self.roll(browser, old, token=token))
        assert "A key is shown only once." in words(self.roll(browser, old, token=token))
        assert ApiKey.objects.count() == 2

    def test_an_old_page_rolls_nothing(self, owner: User) -> None:
        old, _ = create_api_key(user=owner, name="CI")
        browser = signed_in(owner)
        token = token_of(browser, page_of(old))
        self.roll(browser, old)
        answer = self.roll(browser, old, token=token)
        assert "This key can no longer be rolled" in words(answer)
        assert ApiKey.objects.count() == 2

    def test_another_keys_form_rolls_nothing(self, owner: User) -> None:
        old, _ = create_api_key(user=owner, name="CI")
        other, _ = create_api_key(user=owner, name="Other")
        browser = signed_in(owner)
        answer = self.roll(browser, old, token=token_of(browser, page_of(other)))
        assert answer.status_code == 422
        assert "This page had expired." in words(answer)
        assert ApiKey.objects.count() == 2

    def test_both_pages_say_so(self, owner: User) -> None:
        old, _ = create_api_key(user=owner, name="CI", permissions=list(PERMISSIONS))
        browser = signed_in(owner)
        self.roll(browser, old)
        fresh = ApiKey.objects.get(replaces=old)
        assert "Rolling out" in words(browser.get(page_of(old)))
        assert f"Replaces {old}" in words(browser.get(page_of(fresh)))


def test_the_page_of_a_key(owner: User, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    key, secret = create_api_key(user=owner, name="CI")
    used(key, 2, 5)
    browser = signed_in(owner)
    with django_assert_num_queries(4):
        response = browser.get(page_of(key))
    assert "Last 24 hours 5 calls" in words(response)
    assert secret not in response.content.decode()


PATHS = ["", "secret/", "stored/", "switch/", "roll/", "revoke/", "delete/"]


@pytest.mark.parametrize("what", PATHS)
def test_an_outsider_finds_nothing(owner: User, outsider: User, what: str) -> None:
    key, _ = create_api_key(user=owner, name="CI")
    before = ApiKey.objects.values().get()
    browser = signed_in(outsider)
    form = {"typed": "CI", "state": "inactive", "overlap": "0"}
    statuses = {browser.post(page_of(key, what), form).status_code}
    statuses.add(browser.get(page_of(key, what), follow=True).status_code)
    assert statuses <= {404, 405}
    assert ApiKey.objects.values().get() == before


@pytest.mark.parametrize("what", ["x/", f"{'0' * 24}/", f"{'0' * 24}/revoke/"])
def test_no_such_key(owner: User, what: str) -> None:
    assert signed_in(owner).get(LIST + what).status_code == 404


@pytest.mark.parametrize("path", [LIST, NEW, *(f"{LIST}{'0' * 24}/{what}" for what in PATHS)])
def test_strangers_sign_in_first_and_come_back(path: str) -> None:
    for answer in (Client().get(path), Client().post(path)):
        if answer.status_code != 405:
            assert answer["Location"] == f"/accounts/login/?next={path}"
