"""Sessions: what a copy of the database shows of them, and when they end."""

import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.models import User
from accounts.session_store import SessionStore, hash_key
from tests.conftest import PASSWORD
from tests.portal import long_signed_in, signed_in
from tests.signin.test_code_by_mail import ask, code_in, give

pytestmark = pytest.mark.django_db
HOUR, DAY = 3600, 86_400


def sign_in(user: User, **form: str) -> Client:
    browser = Client()
    browser.post("/accounts/login/", {"login": user.email, "password": PASSWORD, **form})
    return browser


def is_in(browser: Client) -> bool:
    return bool(browser.get("/inbox/").status_code == 200)


def cells(table: str) -> Iterator[str]:
    """Everything that a dump of the table shows."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table}")
        for row in cursor.fetchall():
            yield from map(str, row)


class TestADump:
    def test_shows_no_key(self, owner: User) -> None:
        browser = sign_in(owner)
        key = browser.cookies["sessionid"].value
        browser.get("/dashboard/account/sessions/")
        for table in ("django_session", "usersessions_usersession"):
            shown = list(cells(table))
            assert hash_key(key) in shown
            assert not any(key in each for each in shown)

    def test_what_it_shows_opens_nothing(self, owner: User) -> None:
        sign_in(owner)
        thief = Client()
        thief.cookies["sessionid"] = Session.objects.get().pk
        assert not is_in(thief)

    def test_shows_no_content(self, owner: User) -> None:
        browser = signed_in(owner)
        store = browser.session
        store["note"] = "of some length"
        store.save()
        row = Session.objects.get()
        assert "note" not in row.session_data
        assert row.get_decoded() == {}  # Django's own, which only checks a signature
        assert SessionStore().decode(row.session_data)["note"] == "of some length"

    def test_another_secret_key_reads_nothing(self, owner: User, settings: Settings) -> None:
        browser = signed_in(owner)
        old = settings.SECRET_KEY
        settings.SECRET_KEY = "another one of fifty characters, or at least of many"
        assert not is_in(browser)
        settings.SECRET_KEY_FALLBACKS = [old]
        assert is_in(signed_in(owner))

    def test_a_change_of_the_secret_key_keeps_requests_under_way(
        self, owner: User, settings: Settings
    ) -> None:
        """A browser sends several with one cookie, to servers before and after the change."""
        browser, old = signed_in(owner), settings.SECRET_KEY
        cookie = browser.cookies[settings.SESSION_COOKIE_NAME].value
        new = "another one of fifty characters, or at least of many"
        for keys in ((new, old), (new, old), (old, new), (new, old)):
            settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = keys[0], [keys[1]]
            browser.cookies[settings.SESSION_COOKIE_NAME] = cookie
            assert is_in(browser)
        settings.SECRET_KEY_FALLBACKS = []
        assert is_in(browser)  # it has been signed anew


@pytest.mark.parametrize(
    ("form", "idle", "longest", "is_kept"),
    [({}, 8 * HOUR, 24 * HOUR, False), ({"remember": "on"}, 14 * DAY, 90 * DAY, True)],
    ids=["browser", "remembered"],
)
class TestTheEnds:
    def test_without_use(
        self, owner: User, form: dict[str, str], idle: int, longest: int, is_kept: bool
    ) -> None:
        browser, now = sign_in(owner, **form), time.time()
        with time_machine.travel(now + idle - 60, tick=True):
            assert is_in(browser)
        with time_machine.travel(now + 2 * idle - 180, tick=True):
            assert is_in(browser)
        with time_machine.travel(now + 3 * idle, tick=True):
            assert not is_in(browser)

    def test_however_much_it_is_used(
        self, owner: User, form: dict[str, str], idle: int, longest: int, is_kept: bool
    ) -> None:
        browser, now = sign_in(owner, **form), time.time()
        for step in range(1, 2 * longest // idle):
            with time_machine.travel(now + step * idle / 2, tick=True):
                assert is_in(browser), step
        with time_machine.travel(now + longest + 1, tick=True):
            assert not is_in(browser)

    def test_the_cookie_is_kept_if_that_was_chosen(
        self, owner: User, form: dict[str, str], idle: int, longest: int, is_kept: bool
    ) -> None:
        cookie = sign_in(owner, **form).cookies["sessionid"]
        assert bool(cookie["max-age"]) == is_kept
        if is_kept:
            assert longest - 60 < cookie["max-age"] <= longest

    def test_after_a_code_too(
        self, member: User, form: dict[str, str], idle: int, longest: int, is_kept: bool
    ) -> None:
        browser = Client()
        ask(browser, **form)
        page = browser.get("/accounts/login/code/confirm/").content.decode()
        assert ('name="remember"' in page) == is_kept  # for another code
        give(browser, code_in(mail.outbox[0]))
        assert bool(browser.cookies["sessionid"]["max-age"]) == is_kept


def test_use_is_written_now_and_then(owner: User) -> None:
    browser, now = sign_in(owner), time.time()

    def writes() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert is_in(browser)
        return sum(query["sql"].startswith("UPDATE") for query in queries)

    assert writes() == 0
    with time_machine.travel(now + HOUR, tick=True):
        assert writes() == 1
        assert writes() == 0


def test_the_operator_chooses_the_times(owner: User, settings: Settings) -> None:
    settings.SESSION_IDLE = timedelta(minutes=30)
    browser, now = sign_in(owner), time.time()
    with time_machine.travel(now + 31 * 60, tick=True):
        assert not is_in(browser)


def test_signing_out_ends_the_row(owner: User) -> None:
    browser = sign_in(owner)
    key = browser.cookies["sessionid"].value
    browser.post("/accounts/logout/")
    assert not Session.objects.filter(pk=hash_key(key)).exists()


def test_a_key_of_nobody_finds_nothing(owner: User) -> None:
    long_signed_in(owner)
    for key in ("", "x", "é", "a" * 5000):
        store = SessionStore(key)
        assert store.load() == {}
        assert not store.exists(key)
        store.delete(key)
    assert Session.objects.count() == 1
