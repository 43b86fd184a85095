"""A code by mail instead of a password: signing in, signing up, and whom it keeps out."""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from smtplib import SMTPException
from typing import Any

import pytest
import time_machine
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.sessions.models import Session
from django.core import mail
from django.core.mail.backends.base import BaseEmailBackend
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from accounts import sign_in_codes
from accounts.code_services import find_or_create_holder
from accounts.models import AuditEntry, EmailedCode, User
from accounts.services import create_account
from accounts.session_store import SessionStore, hash_key
from accounts.tasks import forget_codes
from loops.models import Loop, Membership
from loops.services import invite_member
from tests.conftest import PASSWORD
from tests.portal import signed_in, unconfirmed, words

pytestmark = pytest.mark.django_db
SIGN_IN, SIGN_UP = "/accounts/login/code/", "/accounts/signup/code/"
CONFIRM = "/accounts/login/code/confirm/"
NORA = {"name": "Nora New", "email": "Nora@Example.org"}


class Broken(BaseEmailBackend):
    """A mail server that is not there."""

    def send_messages(self, email_messages: Any) -> int:
        raise SMTPException


def ask(
    browser: Client, path: str = SIGN_IN, email: str = "member@example.com", **more: str
) -> Any:
    return browser.post(path, {"email": email, **more}, follow=True)


def code_in(message: Any) -> str:
    (code,) = re.findall(r"^\d{6}$", message.body, re.MULTILINE)
    return str(code)


def wrong(code: str) -> str:
    return "000000" if code != "000000" else "111111"


def give(browser: Client, code: str, **more: str) -> Any:
    return browser.post(CONFIRM, {"code": code, **more}, follow=True)


def time_left(browser: Client) -> float:
    """Seconds until the browser's session ends."""
    row = Session.objects.get(pk=hash_key(browser.cookies["sessionid"].value))
    return float(row.expire_date.timestamp() - time.time())


def actions() -> list[str]:
    return list(AuditEntry.objects.order_by("created_at", "pk").values_list("action", flat=True))


def test_known_people_sign_in(member: User) -> None:
    browser = Client()
    asked = ask(browser, email="Member@example.com")
    assert asked.redirect_chain == [(CONFIRM, 302)]
    assert "We sent an email to member@example.com" in words(asked)
    source = asked.content.decode()
    assert 'autocomplete="one-time-code"' in source
    assert 'inputmode="numeric"' in source
    (message,) = mail.outbox
    code = code_in(message)
    assert message.to == ["member@example.com"]
    assert message.subject == f"Review Loop: {code} is your code"
    assert give(browser, code).redirect_chain == [("/inbox/", 302)]
    assert "You’re signed in as member@example.com." in words(browser.get("/accounts/logout/"))
    assert AuditEntry.objects.get(action="sign_in.done").ip == "127.0.0.1"


@pytest.mark.parametrize("typed", ["{0} {1}", "{0}-{1}", " {0}{1} ", "\uff0b{0}\u00a0{1}"])
def test_a_code_is_typed_in_any_form(member: User, typed: str) -> None:
    browser = Client()
    ask(browser)
    code = code_in(mail.outbox[0])
    assert give(browser, typed.format(code[:3], code[3:])).redirect_chain == [("/inbox/", 302)]


@pytest.mark.parametrize("typed", ["", "12345", "1234567", "abcdef", "a\0b"])
def test_what_cannot_be_a_code_costs_no_try(member: User, typed: str) -> None:
    browser = Client()
    ask(browser)
    for _ in range(6):
        assert give(browser, typed).status_code == 422
    assert give(browser, code_in(mail.outbox[0])).redirect_chain == [("/inbox/", 302)]


def test_from_the_join_link_and_back_as_a_newcomer(loop: Loop) -> None:
    browser, path = Client(), f"/join/{loop.invite_code}"
    link = f"/accounts/signup/code/?next=%2Fjoin%2F{loop.invite_code}"
    assert f'href="{link}"' in browser.get(path).content.decode()
    assert f'name="next" value="{path}"' in browser.get(link).content.decode()
    asked = ask(browser, SIGN_UP, **NORA, next=path)
    assert asked.redirect_chain == [(f"{CONFIRM}?next={link.partition('=')[2]}", 302)]
    assert not User.objects.filter(email="nora@example.org").exists()
    answer = give(browser, code_in(mail.outbox[0]), next=path)
    assert answer.redirect_chain == [(path, 302)]
    browser.post(path)
    user = User.objects.get(email="nora@example.org")
    assert (user.name, user.has_usable_password()) == ("Nora New", False)
    assert EmailAddress.objects.get(user=user).verified
    assert Membership.objects.get(loop=loop, user=user).status == "active"
    assert AuditEntry.objects.filter(account=user, action="account.created").count() == 1
    assert len(mail.outbox) == 1  # no link to confirm what is confirmed


def test_an_invited_newcomer_takes_up_the_invitation(loop: Loop) -> None:
    invited = invite_member(loop=loop, email="nora@example.org")
    browser = Client()
    ask(browser, SIGN_UP, **NORA)
    give(browser, code_in(mail.outbox[0]))
    browser.post(f"/join/{loop.invite_code}")
    joined = Membership.objects.get(loop=loop, user__email="nora@example.org")
    assert (joined.member_id, joined.status) == (invited.member_id, "active")
    assert Membership.objects.filter(loop=loop).count() == 3


def test_signing_up_with_a_known_address_signs_in(member: User) -> None:
    browser = Client()
    asked = ask(browser, SIGN_UP, email="member@example.com", name="Somebody else")
    assert asked.redirect_chain == [(CONFIRM, 302)]
    give(browser, code_in(mail.outbox[0]))
    member.refresh_from_db()
    assert member.name == "Member"
    assert User.objects.count() == 1


def test_nobody_learns_whether_an_address_is_known(member: User) -> None:
    known, unknown = Client(), Client()
    pages = [
        words(ask(browser, email=email)).replace(email, "")
        for browser, email in ((known, "member@example.com"), (unknown, "nobody@example.com"))
    ]
    assert pages[0] == pages[1]
    tried = [
        words(give(browser, wrong(code_in(mail.outbox[0])))).replace(email, "")
        for browser, email in ((known, "member@example.com"), (unknown, "nobody@example.com"))
    ]
    assert tried[0] == tried[1]
    told = mail.outbox[1]
    assert told.to == ["nobody@example.com"]
    assert "There is no account with this address." in told.body
    assert not re.search(r"^\d{6}$", str(told.body), re.MULTILINE)


def test_the_mail_to_a_stranger_leads_back_to_the_loop(loop: Loop) -> None:
    ask(Client(), email="nobody@example.com", next=f"/join/{loop.invite_code}")
    assert f"/accounts/signup/code/?next=%2Fjoin%2F{loop.invite_code}" in mail.outbox[0].body


@pytest.mark.parametrize("target", ["https://elsewhere.example/", "//elsewhere.example"])
def test_next_never_leads_away(member: User, target: str) -> None:
    browser = Client()
    assert ask(browser, next=target).redirect_chain == [(CONFIRM, 302)]
    answer = give(browser, code_in(mail.outbox[0]), next=target)
    assert answer.redirect_chain == [("/inbox/", 302)]


def test_five_wrong_codes_end_the_right_one(member: User) -> None:
    browser = Client()
    ask(browser)
    code = code_in(mail.outbox[0])
    told = [words(give(browser, wrong(code))) for _ in range(5)]
    assert "Wrong code. Attempts left: 4" in told[0]
    assert "Too many wrong codes. Get a new one." in told[4]
    assert "That code has expired." in words(give(browser, code))
    assert browser.get("/inbox/").status_code == 302
    assert actions() == ["sign_in.failed"] * 5


def read_session(browser: Client) -> SessionStore:
    """The browser's session, as another request of the same browser reads it now."""
    session = SessionStore(browser.cookies["sessionid"].value)
    session["page"] = "/inbox/"
    return session


def test_a_request_that_ends_later_brings_no_try_back(member: User) -> None:
    browser = Client()
    ask(browser)
    code, other = code_in(mail.outbox[0]), read_session(browser)
    for _ in range(4):
        give(browser, wrong(code))
    other.save()
    assert "Too many wrong codes. Get a new one." in words(give(browser, wrong(code)))
    other.save()
    assert "That code has expired." in words(give(browser, code))
    assert actions() == ["sign_in.failed"] * 5


def test_a_copy_of_the_session_has_no_tries_of_its_own(member: User) -> None:
    browser, copied = Client(), Client()
    ask(browser)
    code, copy = code_in(mail.outbox[0]), read_session(browser)
    copy.create()  # under another key, as a sign-in does
    copied.cookies["sessionid"] = copy.session_key or ""
    told = [words(give(each, wrong(code))) for each in (browser, copied) * 2]
    assert "Wrong code. Attempts left: 1" in told[3]
    give(copied, code)
    assert "That code has expired." in words(give(browser, code))


def test_an_earlier_code_ends_where_it_comes_back(member: User) -> None:
    browser = Client()
    ask(browser)
    other = read_session(browser)
    ask(browser)
    other.save()
    assert "That code has expired." in words(give(browser, code_in(mail.outbox[0])))


def test_the_same_code_twice_at_once_is_no_error(member: User) -> None:
    """The second request has the session of before, which a sign-in ends; it may not write it."""
    browser = Client()
    ask(browser)
    code, other = code_in(mail.outbox[0]), SessionStore(browser.cookies["sessionid"].value)
    assert sign_in_codes.read_pending(other)
    give(browser, code)
    with pytest.raises(sign_in_codes.NoCode):
        sign_in_codes.redeem(other, code)
    assert not other.modified


def test_what_is_left_of_codes_is_removed(member: User) -> None:
    ask(Client())
    assert forget_codes() == 0
    EmailedCode.objects.update(created_at=Now() - timedelta(hours=1))
    assert forget_codes() == 1


def test_a_code_ends_after_ten_minutes(member: User) -> None:
    browser = Client()
    ask(browser)
    with time_machine.travel(time.time() + 601, tick=True):
        assert "That code has expired." in words(give(browser, code_in(mail.outbox[0])))
    assert browser.get("/inbox/").status_code == 302


def test_a_session_is_short_until_its_code_is_given(member: User) -> None:
    browser = Client()
    ask(browser)
    assert browser.cookies["sessionid"]["max-age"] == 3600
    assert time_left(browser) <= 3600
    give(browser, wrong(code_in(mail.outbox[0])))
    assert time_left(browser) <= 3600
    give(browser, code_in(mail.outbox[0]))
    assert time_left(browser) > 7 * 3600


def test_a_code_counts_once_and_in_its_browser_alone(member: User) -> None:
    browser, other = Client(), Client()
    ask(browser)
    code = code_in(mail.outbox[0])
    assert "That code has expired." in words(give(other, code))
    give(browser, code)
    browser.post("/accounts/logout/")
    assert "That code has expired." in words(give(browser, code))


def test_a_new_code_ends_the_one_before(member: User) -> None:
    browser = Client()
    for _ in range(2):
        ask(browser)
    first, second = (code_in(message) for message in mail.outbox)
    if first != second:
        assert give(browser, first).status_code == 422
    assert give(browser, second).redirect_chain == [("/inbox/", 302)]


def test_an_address_gets_three_codes_a_minute(member: User) -> None:
    answers = [ask(Client()) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert "You’ve requested too many codes. Wait a minute" in words(answers[3])
    assert 'value="member@example.com"' in answers[3].content.decode()
    assert len(mail.outbox) == 3


@pytest.mark.parametrize("path", [SIGN_IN, SIGN_UP])
def test_whoever_gets_no_new_code_can_type_the_one_before(member: User, path: str) -> None:
    browser, told = Client(), {"name": "Member", "next": "/my-work/"}
    assert "Enter it" not in words(browser.get(path))
    answers = [ask(browser, path, **told) for _ in range(4)]
    assert answers[3].status_code == 429
    assert "We emailed a code to member@example.com . Enter it" in words(answers[3])
    link = f"{CONFIRM}?next=%2Fmy-work%2F"
    assert f'href="{link}"' in answers[3].content.decode()
    assert browser.get(link).status_code == 200
    assert give(browser, code_in(mail.outbox[2])).redirect_chain == [("/inbox/", 302)]
    assert "Enter it" not in words(ask(Client(), path, **told))


def test_guessing_goes_by_the_address_of_the_connection(member: User) -> None:
    browser, statuses = Client(), []
    ask(browser)
    for number in range(31):
        if number % 4 == 3:
            ask(browser, email=f"{number}@example.com")
        statuses.append(give(browser, "000000").status_code)
    assert statuses[-1] == 429


def test_the_second_step_is_still_asked_for(owner: User) -> None:
    TOTP.activate(owner, "JBSWY3DPEHPK3PXP")
    browser = Client()
    ask(browser, email=owner.email)
    landed = give(browser, code_in(mail.outbox[0]))
    assert landed.redirect_chain == [("/accounts/2fa/authenticate/", 302)]
    assert browser.get("/inbox/").status_code == 302
    assert actions() == []


def test_an_account_that_is_switched_off_stays_out(member: User) -> None:
    User.objects.update(is_active=False)
    browser = Client()
    ask(browser)
    assert "This account is disabled" in words(give(browser, code_in(mail.outbox[0])))
    assert browser.get("/inbox/").status_code == 302


def test_a_stranger_who_signed_up_with_the_address_is_out() -> None:
    """Whoever waited in somebody else's name loses the password and the session."""
    squatter = unconfirmed(**NORA, password=PASSWORD)
    browser = Client()
    ask(browser, SIGN_UP, **NORA)
    landed = give(browser, code_in(mail.outbox[0]))
    assert "Your address is confirmed." in words(landed)
    assert squatter.get("/inbox/").status_code == 302
    form = {"login": "nora@example.org", "password": PASSWORD}
    assert Client().post("/accounts/login/", form).status_code == 200
    user = User.objects.get()
    assert EmailAddress.objects.get(user=user).verified
    assert "security.password_ended" in actions()


def test_an_address_that_somebody_only_added_is_its_holders(member: User) -> None:
    EmailAddress.objects.create(user=member, email="nora@example.org")
    browser = Client()
    ask(browser, SIGN_UP, **NORA)
    give(browser, code_in(mail.outbox[0]))
    assert User.objects.get(email="nora@example.org").pk != member.pk


def test_a_confirmed_second_address_signs_in(member: User) -> None:
    EmailAddress.objects.create(user=member, email="nora@example.org", verified=True)
    browser = Client()
    ask(browser, email="nora@example.org")
    give(browser, code_in(mail.outbox[0]))
    assert "signed in as member@example.com" in words(browser.get("/accounts/logout/"))


def test_a_password_is_set_later() -> None:
    browser = Client()
    ask(browser, SIGN_UP, **NORA)
    give(browser, code_in(mail.outbox[0]))
    assert "Set" in words(browser.get("/dashboard/account/"))
    page = browser.get("/accounts/password/change/", follow=True)
    assert page.redirect_chain == [("/accounts/password/set/", 302)]
    assert "Set a password" in words(page)
    form = {"password1": PASSWORD, "password2": PASSWORD}
    assert browser.post("/accounts/password/set/", form).status_code == 302
    login = {"login": "nora@example.org", "password": PASSWORD}
    assert Client().post("/accounts/login/", login)["Location"] == "/inbox/"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"name": " "}, "Enter your name"),
        ({"name": "x" * 101}, "Ensure this value has at most 100 characters"),
        ({"name": "a\0b"}, "Null characters are not allowed."),
        ({"email": ""}, "Enter your email address"),
        ({"email": "nobody"}, "Enter a valid email address."),
        ({"email": "a@b.example\r\nBcc: c@d.example"}, "Enter a valid email address."),
    ],
)
def test_faults_stand_beside_their_fields(change: dict[str, str], fault: str) -> None:
    answer = ask(Client(), SIGN_UP, **{**NORA, **change})
    (field,) = change
    assert answer.status_code == 422
    assert fault in words(answer)
    assert f'id="id_{field}_error"' in answer.content.decode()
    assert mail.outbox == []


def test_a_broken_mail_server_is_told(member: User, settings: Settings) -> None:
    settings.EMAIL_BACKEND = f"{__name__}.Broken"
    for email in ("member@example.com", "nobody@example.com"):
        answer = ask(Client(), email=email)
        assert answer.status_code == 422
        assert "We couldn’t send an email to this address." in words(answer)


def test_a_mail_that_fails_leaves_the_code_before_it(member: User, settings: Settings) -> None:
    browser = Client()
    ask(browser)
    settings.EMAIL_BACKEND = f"{__name__}.Broken"
    assert ask(browser).status_code == 422
    assert give(browser, code_in(mail.outbox[0])).redirect_chain == [("/inbox/", 302)]


def test_without_the_cache_nobody_counts_so_no_code_is_sent(
    member: User, settings: Settings, tmp_path: Path
) -> None:
    browser = Client()
    ask(browser)
    gone: dict[str, Any] = {**settings.CACHES["default"], "LOCATION": f"unix://{tmp_path}/gone"}
    settings.CACHES = {"default": gone}
    for email in ("member@example.com", "nobody@example.com"):
        answer = ask(Client(), email=email)
        assert answer.status_code == 422
        assert "We couldn’t send an email to this address. Try again soon." in words(answer)
    assert len(mail.outbox) == 1
    statuses = [give(browser, wrong(code_in(mail.outbox[0]))).status_code for _ in range(4)]
    assert statuses == [422] * 4
    assert give(browser, code_in(mail.outbox[0])).redirect_chain == [("/inbox/", 302)]


@pytest.mark.parametrize("kind", ["console", "dummy"])
def test_without_mail_nothing_is_offered(loop: Loop, settings: Settings, kind: str) -> None:
    settings.EMAIL_BACKEND = f"django.core.mail.backends.{kind}.EmailBackend"
    for path in ("/accounts/login/", "/accounts/signup/", f"/join/{loop.invite_code}"):
        assert "email code" not in words(Client().get(path))
    for path in (SIGN_IN, SIGN_UP, CONFIRM):
        response = Client().get(path)
        assert response.status_code == 404
        assert "Not found" in words(response)
        assert Client().post(path, NORA).status_code == 404
    assert mail.outbox == []


def test_the_pages_ask_the_database_next_to_nothing(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    browser = Client()
    for path in (SIGN_IN, SIGN_UP):
        with django_assert_num_queries(0):
            browser.get(path)
    ask(browser, SIGN_UP, **NORA)
    with django_assert_num_queries(1):
        browser.get(CONFIRM)


def test_who_is_signed_in_needs_no_code(owner: User) -> None:
    for path in (SIGN_IN, SIGN_UP, CONFIRM):
        assert signed_in(owner).get(f"{path}?next=/my-work/")["Location"] == "/my-work/"
        assert signed_in(owner).post(path, NORA)["Location"] == "/inbox/"
    assert mail.outbox == []


def test_reading_a_page_sends_and_decides_nothing(member: User) -> None:
    browser = Client()
    browser.get(SIGN_IN, {"email": "member@example.com"})
    assert mail.outbox == []
    ask(browser)
    browser.get(CONFIRM, {"code": code_in(mail.outbox[0])})
    assert browser.get("/inbox/").status_code == 302


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    def test_a_hundred_tries_are_five(self, member: User) -> None:
        browser = Client(REMOTE_ADDR="192.0.2.1")
        ask(browser)
        code = code_in(mail.outbox[0])

        def guess(number: int) -> None:
            try:
                other = Client(REMOTE_ADDR=f"192.0.2.{number}")
                other.cookies = browser.cookies
                other.post(CONFIRM, {"code": wrong(code)})
            finally:
                connection.close()

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(guess, range(2, 42)))
        assert actions() == ["sign_in.failed"] * 5

    def test_two_who_prove_the_same_address_are_one(self) -> None:
        def prove(_: int) -> str:
            try:
                shown = find_or_create_holder(email="nora@example.org", name="Nora")
                assert shown
                return str(shown.user.pk)
            finally:
                connection.close()

        with ThreadPoolExecutor(4) as pool:
            assert len(set(pool.map(prove, range(4)))) == 1


def test_the_forgotten_password_of_who_never_had_one() -> None:
    create_account(email="nora@example.org", name="Nora", verified=True)
    Client().post("/accounts/password/reset/", {"email": "nora@example.org"})
    assert "/accounts/password/reset/key/" in mail.outbox[0].body
