"""/dashboard/account/: name, time zone, and the browsers that are signed in."""

import re
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts import sessions
from accounts.models import AuditEntry, User
from accounts.session_store import hash_key
from accounts.user_agent import format_browser
from tests.conftest import PASSWORD
from tests.portal import signed_in, words

pytestmark = pytest.mark.django_db
PAGE, SESSIONS, END = (
    "/dashboard/account/",
    "/dashboard/account/sessions/",
    "/dashboard/account/sessions/end/",
)
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1"


def sign_in(user: User, agent: str = "Firefox/130.0 (X11; Linux)") -> Client:
    """A browser of its own, through the form."""
    browser = Client(headers={"user-agent": agent}, REMOTE_ADDR="192.0.2.7")
    browser.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    return browser


def is_in(browser: Client) -> bool:
    return browser.get(PAGE).status_code == 200


class TestProfile:
    def save(self, browser: Client, **fields: str) -> Any:
        form = {"name": "Olive", "time_zone": "Europe/Berlin", **fields}
        return browser.post(PAGE, form, follow=True)

    def test_saving(self, owner: User) -> None:
        browser = signed_in(owner)
        answer = self.save(browser)
        assert answer.redirect_chain == [(PAGE, 302)]
        assert "Saved." in words(answer)
        owner.refresh_from_db()
        assert (owner.name, owner.time_zone) == ("Olive", "Europe/Berlin")
        self.save(browser)  # nothing changed
        assert AuditEntry.objects.get().action == "account.profile_changed"

    @pytest.mark.parametrize(
        ("change", "fault"),
        [
            ({"name": ""}, "Enter your name"),
            ({"name": "x" * 101}, "at most 100 characters"),
            ({"time_zone": "Mars/Olympus"}, "Mars/Olympus is not one of the available choices."),
        ],
    )
    def test_faults(self, owner: User, change: dict[str, str], fault: str) -> None:
        answer = self.save(signed_in(owner), **change)
        assert answer.status_code == 422
        assert fault in words(answer)
        owner.refresh_from_db()
        assert owner.name == "Owner"

    def test_pages_speak_in_the_time_zone_and_the_api_does_not(self, owner: User) -> None:
        browser = signed_in(owner)
        self.save(browser, time_zone="Asia/Tokyo")
        assert "JST" in words(browser.get("/dashboard/audit/"))
        owner.time_zone = "Gone/Zone"
        owner.save()
        assert "UTC" in words(browser.get("/dashboard/audit/"))

    def test_statements(
        self, owner: User, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        browser = signed_in(owner)
        with django_assert_num_queries(4):
            browser.get(PAGE)


class TestSessions:
    def test_the_list(
        self, owner: User, outsider: User, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        sign_in(outsider, "curl/8")
        browser = sign_in(owner)
        for _ in range(5):
            sign_in(owner, PHONE)
        with django_assert_num_queries(4):
            response = browser.get(SESSIONS)
        said = words(response)
        assert "Firefox on Linux This browser 192.0.2.7" in said
        assert said.count("Safari on iPhone 192.0.2.7") == 5
        assert "curl" not in said
        source = response.content.decode()
        for row in UserSession.objects.all():
            assert row.session_key not in source

    def test_signing_in_again_and_again_fills_nothing(
        self, owner: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sessions, "MAX_SESSIONS", 3)
        browsers = [sign_in(owner) for _ in range(5)]
        assert [is_in(each) for each in browsers] == [False, False, True, True, True]
        assert UserSession.objects.count() == Session.objects.count() == 3
        lapsed = Session.objects.get(pk=hash_key(browsers[-1].session.session_key))
        lapsed.expire_date = timezone.now()
        lapsed.save()
        sign_in(owner)
        assert not UserSession.objects.filter(session_key=lapsed.pk).exists()

    @pytest.mark.parametrize("count", [1, 20])
    def test_signing_in_costs_the_same(self, owner: User, count: int) -> None:
        for _ in range(count):
            sign_in(owner)
        with CaptureQueriesContext(connection) as queries:
            sign_in(owner)
        bounds = ("SAVEPOINT", "RELEASE")
        assert sum(not query["sql"].startswith(bounds) for query in queries) <= 22

    def test_a_session_from_before_the_list(self, owner: User) -> None:
        assert "This browser" in words(signed_in(owner).get(SESSIONS))

    def test_ending_one(self, owner: User) -> None:
        browser, phone, other = sign_in(owner), sign_in(owner, PHONE), sign_in(owner)
        named = UserSession.objects.get(session_key=hash_key(phone.session.session_key))
        response = browser.post(END, {"session": named.pk}, follow=True)
        assert "That browser is signed out." in words(response)
        assert [is_in(each) for each in (browser, phone, other)] == [True, False, True]
        again = browser.post(END, {"session": named.pk}, follow=True)
        assert "You have no other sessions." in words(again)

    def test_ending_all_others(self, owner: User, outsider: User) -> None:
        browser, phone, other = sign_in(owner), sign_in(owner, PHONE), sign_in(owner)
        stranger = sign_in(outsider)
        assert "2 browsers are signed out." in words(browser.post(END, follow=True))
        assert [is_in(each) for each in (browser, phone, other)] == [True, False, False]
        assert is_in(stranger)
        assert AuditEntry.objects.filter(action="sign_in.session_ended", account=owner).exists()

    @pytest.mark.parametrize("named", ["x", "-1", "99999999999999999999", "\u0663", "1.5"])
    def test_a_session_that_is_none(self, owner: User, named: str) -> None:
        browser, phone = sign_in(owner), sign_in(owner, PHONE)
        response = browser.post(END, {"session": named}, follow=True)
        assert response.redirect_chain == [(SESSIONS, 302)]
        assert is_in(phone)

    def test_this_browser_cannot_be_ended_by_number(self, owner: User) -> None:
        browser = sign_in(owner)
        browser.post(END, {"session": UserSession.objects.get().pk})
        assert is_in(browser)

    def test_an_outsider_ends_nothing(self, owner: User, outsider: User) -> None:
        browser = sign_in(owner)
        named = UserSession.objects.get().pk
        signed_in(outsider).post(END, {"session": named})
        assert is_in(browser)

    def test_a_new_password_ends_the_others(self, owner: User) -> None:
        browser, phone = sign_in(owner), sign_in(owner, PHONE)
        form = {"oldpassword": PASSWORD}
        form["password1"] = form["password2"] = "another long one"
        browser.post("/accounts/password/change/", form)
        assert [is_in(each) for each in (browser, phone)] == [True, False]
        said = words(browser.get(SESSIONS))
        assert "This browser" in said
        assert "Safari" not in said


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/130 Safari/537 Edg/130", "Edge on Windows"),
        ("Mozilla/5.0 (Macintosh) Version/18 Safari/605", "Safari on Mac"),
        ("Mozilla/5.0 (Linux; Android 15) Chrome/130 Mobile Safari/537", "Chrome on Android"),
        (PHONE, "Safari on iPhone"),
        ("curl/8.4.0", "curl"),
        ("(Linux)", "Linux"),
        ("", "An unknown browser"),
    ],
)  # fmt: skip
def test_browsers_are_named(agent: str, name: str) -> None:
    assert format_browser(agent) == name


@pytest.mark.parametrize("path", [PAGE, SESSIONS, END])
def test_strangers_sign_in_first(path: str) -> None:
    assert Client().get(path)["Location"] == f"/accounts/login/?next={path}"


@pytest.mark.parametrize(
    "path", [PAGE, SESSIONS, "/accounts/email/", "/accounts/password/change/", "/accounts/2fa/"]
)
def test_the_navigation_says_where_it_is(owner: User, path: str) -> None:
    page = signed_in(owner).get(path).content.decode()
    current = set(re.findall(r'<a href="([^"]*)" aria-current="page"', page))
    assert current == {PAGE}


def test_signing_out_is_a_place_of_its_own(owner: User) -> None:
    page = signed_in(owner).get("/accounts/logout/").content.decode()
    assert {*re.findall(r'<a href="([^"]*)" aria-current="page"', page)} == {"/accounts/logout/"}
