"""Wrong passwords: whom their limits keep out, and whom they let through."""

import time
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from signin.guessing import find_network
from tests.conftest import PASSWORD
from tests.portal import signed_in, words
from tests.signin.test_code_by_mail import SIGN_IN, ask, code_in, give

pytestmark = pytest.mark.django_db
LOCKED = "Too many failed login attempts."


def sign_in(browser: Client, password: str = PASSWORD, ip: str = "192.0.2.7") -> Any:
    form = {"login": "member@example.com", "password": password}
    return browser.post("/accounts/login/", form, REMOTE_ADDR=ip)


def guess(count: int, network: str = "203.0.{}.9") -> list[Any]:
    return [sign_in(Client(), "wrong", network.format(number)) for number in range(count)]


def test_six_guesses_from_six_networks_lock_nobody_out(member: User) -> None:
    guess(6)
    assert sign_in(Client())["Location"] == "/inbox/"


def test_guesses_of_one_network_count_together(member: User) -> None:
    told = [words(each) for each in guess(6, "203.0.113.{}")]
    assert [LOCKED in each for each in told] == [False] * 5 + [True]
    assert LOCKED in words(sign_in(Client(), ip="203.0.113.200"))
    assert sign_in(Client(), ip="203.0.112.1")["Location"] == "/inbox/"


def test_guesses_of_all_networks_are_slow(member: User, settings: Settings) -> None:
    settings.ACCOUNT_RATE_LIMITS = {
        **settings.ACCOUNT_RATE_LIMITS,
        "password_failed_anywhere": "20/h/key",
    }
    known = Client()
    sign_in(known)
    known.post("/accounts/logout/")
    assert not any(LOCKED in words(each) for each in guess(20))
    assert LOCKED in words(sign_in(Client()))
    assert sign_in(known)["Location"] == "/inbox/"


def test_a_known_browser_has_tries_of_its_own(member: User) -> None:
    known = Client()
    sign_in(known)
    known.post("/accounts/logout/")
    guess(6, "192.0.2.{}")
    assert LOCKED in words(sign_in(Client()))
    assert sign_in(known)["Location"] == "/inbox/"
    known.post("/accounts/logout/")
    told = [words(sign_in(known, "wrong")) for _ in range(6)]
    assert [LOCKED in each for each in told] == [False] * 5 + [True]


def test_a_browser_is_known_for_its_own_accounts_alone(member: User, outsider: User) -> None:
    stranger = Client()
    form = {"login": "outsider@example.com", "password": PASSWORD}
    stranger.post("/accounts/login/", form, REMOTE_ADDR="192.0.2.7")
    stranger.post("/accounts/logout/")
    guess(6, "192.0.2.{}")
    assert LOCKED in words(sign_in(stranger))


def test_adding_an_address_makes_no_browser_known_to_its_owner(
    member: User, outsider: User
) -> None:
    EmailAddress.objects.create(user=outsider, email=member.email, verified=False)
    stranger = Client()
    form = {"login": "outsider@example.com", "password": PASSWORD}
    stranger.post("/accounts/login/", form, REMOTE_ADDR="192.0.2.7")
    stranger.post("/accounts/logout/")
    guess(6, "192.0.2.{}")
    assert LOCKED in words(sign_in(stranger))


def test_who_loses_an_account_to_its_owner_is_not_known_to_it(member: User) -> None:
    address = EmailAddress.objects.filter(user=member)
    address.update(verified=False)
    squatter = Client()
    sign_in(squatter)
    squatter.post("/accounts/logout/")
    guess(6, "192.0.2.{}")
    assert sign_in(squatter)["Location"] == "/inbox/"
    squatter.post("/accounts/logout/")
    address.update(verified=True)
    assert LOCKED in words(sign_in(squatter))


def test_known_browsers_together_have_a_limit(member: User, settings: Settings) -> None:
    settings.ACCOUNT_RATE_LIMITS = {
        **settings.ACCOUNT_RATE_LIMITS,
        "password_failed_anywhere": "4/h/key",
    }
    known = [Client(), Client()]
    for browser in known:
        sign_in(browser)
        browser.post("/accounts/logout/")
    told = [words(sign_in(known[number % 2], "wrong")) for number in range(5)]
    assert [LOCKED in each for each in told] == [False] * 4 + [True]


@pytest.mark.parametrize("cookie", ["", "x", "WyJhIixbXV0:1u:x", "\u00e9"])
def test_no_browser_makes_itself_known(member: User, cookie: str) -> None:
    browser = Client()
    browser.cookies["browser"] = cookie
    guess(6, "192.0.2.{}")
    assert LOCKED in words(sign_in(browser))


def test_a_right_password_takes_its_try_back(member: User) -> None:
    for _ in range(7):
        assert sign_in(Client()).status_code == 302


def test_a_new_password_starts_anew(member: User) -> None:
    guess(6, "192.0.2.{}")
    browser = Client()
    form = {"email": "member@example.com"}
    browser.post("/accounts/password/reset/", form, REMOTE_ADDR="192.0.2.7")
    path = next(line for line in str(mail.outbox[-1].body).splitlines() if "/key/" in line)
    at = browser.get(path.removeprefix("http://testserver"), REMOTE_ADDR="192.0.2.7")["Location"]
    chosen = {"password1": "quite another one", "password2": "quite another one"}
    browser.post(at, chosen, REMOTE_ADDR="192.0.2.7")
    assert sign_in(browser, "quite another one")["Location"] == "/inbox/"


def test_the_form_for_a_new_password_is_no_way_around(member: User) -> None:
    browser = signed_in(member)
    form = {"oldpassword": "wrong", "password1": "quite another one"}
    form["password2"] = form["password1"]
    told = [words(browser.post("/accounts/password/change/", form)) for _ in range(5)]
    assert all("Wrong password" in each for each in told)
    with time_machine.travel(time.time() + 61, tick=True):  # the form has a limit a minute, too
        right = browser.post("/accounts/password/change/", {**form, "oldpassword": PASSWORD})
    assert LOCKED in words(right)
    member.refresh_from_db()
    assert member.check_password(PASSWORD)


class TestCodes:
    def test_an_address_gets_twenty_codes_a_day(self, member: User) -> None:
        for number in range(20):
            assert ask(Client(REMOTE_ADDR=f"203.0.{number}.1")).status_code == 200
            forget_short_limits()
        answer = ask(Client(REMOTE_ADDR="203.0.99.1"))
        assert answer.status_code == 429
        assert "after 20, a day" in words(answer)
        assert len(mail.outbox) == 20

    def test_a_known_browser_gets_its_own(self, member: User) -> None:
        known = Client()
        ask(known)
        give(known, code_in(mail.outbox[-1]))
        known.post("/accounts/logout/")
        for number in range(4):
            last = ask(Client(REMOTE_ADDR=f"203.0.{number}.1"))
        assert last.status_code == 429
        assert ask(known, SIGN_IN).status_code == 200

    def test_known_browsers_together_get_no_more(self, member: User) -> None:
        known = [Client(REMOTE_ADDR=f"203.0.{number}.1") for number in range(4)]
        for browser in known:
            sign_in(browser)
            browser.post("/accounts/logout/")
        assert [ask(browser, SIGN_IN).status_code for browser in known] == [200, 200, 200, 429]


def forget_short_limits() -> None:
    """As if an hour had gone by."""
    for key in cache._cache.get_client().scan_iter("*request_login_code*"):  # type: ignore[attr-defined]
        if b":20/86400" not in key:
            cache._cache.get_client().delete(key)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("ip", "network"),
    [
        ("192.0.2.77", "192.0.2.0/24"),
        ("::ffff:192.0.2.77", "192.0.2.0/24"),
        ("2001:db8:1:2::3", "2001:db8:1::/48"),
    ],
)
def test_networks(rf: Any, ip: str, network: str) -> None:
    assert find_network(rf.get("/", REMOTE_ADDR=ip)) == network
