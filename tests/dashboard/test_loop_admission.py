"""The loop's settings: who may join, which options need a comment, how long requests stay."""

import pytest
from pytest_django import Settings

from accounts.models import AuditEntry, User
from accounts.services import create_account
from loops.models import Loop
from loops.services import join_loop
from tests.portal import signed_in, words

pytestmark = pytest.mark.django_db


def edit(owner: User, loop: Loop, **fields: str) -> tuple[int, str]:
    form = {"name": loop.name, "description": loop.description, "icon": loop.icon, **fields}
    response = signed_in(owner).post(f"/dashboard/loops/{loop.pk}/edit/", form)
    loop.refresh_from_db()
    return response.status_code, words(response)


def test_the_choices_are_stored_and_shown(owner: User, loop: Loop) -> None:
    domains = "Example.org, \u200b@example.com\u200b  bücher.example ｅｘａｍｐｌｅ．ｏｒｇ"
    assert edit(owner, loop, joiners="anyone", allowed_domains=domains)[0] == 302
    assert loop.require_verified is False
    assert loop.allowed_domains == ["example.com", "example.org", "xn--bcher-kva.example"]
    source = signed_in(owner).get(f"/dashboard/loops/{loop.pk}/edit/").content.decode()
    assert 'value="example.com, example.org, xn--bcher-kva.example"' in source
    sentence = "Only people with a confirmed email address at example.com, example.org"
    page = f"/dashboard/loops/{loop.pk}/"
    assert sentence in words(signed_in(owner).get(page))
    assert edit(owner, loop, joiners="confirmed", allowed_domains="")[0] == 302
    assert sentence not in words(signed_in(owner).get(page))
    assert (loop.require_verified, loop.allowed_domains) == (True, [])


def test_a_form_without_them_changes_nothing(owner: User, loop: Loop) -> None:
    Loop.objects.filter(pk=loop.pk).update(require_verified=False, allowed_domains=["a.example"])
    assert edit(owner, loop, name="Renamed")[0] == 302
    assert (loop.name, loop.require_verified) == ("Renamed", False)
    assert loop.allowed_domains == ["a.example"]


@pytest.mark.parametrize("typed", ["nora@example.org", "example", "http://example.org"])
def test_what_is_no_domain(owner: User, loop: Loop, typed: str) -> None:
    status, page = edit(owner, loop, allowed_domains=typed)
    assert status == 422
    assert "Enter up to 20 domains, such as example.com" in page
    assert loop.allowed_domains == []


def test_members_whose_address_is_not_confirmed_are_marked(owner: User, loop: Loop) -> None:
    browser, path = signed_in(owner), f"/dashboard/loops/{loop.pk}/"
    assert "Not confirmed" not in words(browser.get(path))
    join_loop(user=create_account(email="nora@example.org"), code=loop.invite_code)
    assert words(browser.get(path)).count("Not confirmed") == 1


def test_without_mail_the_page_says_that_nobody_can_confirm(
    owner: User, loop: Loop, settings: Settings
) -> None:
    path, note = f"/dashboard/loops/{loop.pk}/edit/", "This service doesn’t send email"
    assert note in words(signed_in(owner).get(path))
    settings.REQUIRE_CONFIRMED_ADDRESSES = True
    assert note not in words(signed_in(owner).get(path))


def test_which_options_need_a_comment(owner: User, loop: Loop) -> None:
    assert edit(owner, loop, comment_required_for=" Decline\r\n\r\nA, B\nDecline")[0] == 302
    assert loop.comment_required_for == ["Decline", "A, B"]
    source = signed_in(owner).get(f"/dashboard/loops/{loop.pk}/edit/").content.decode()
    assert "Decline\nA, B</textarea>" in source
    assert edit(owner, loop, name="Renamed")[0] == 302
    assert loop.comment_required_for == ["Decline", "A, B"]
    status, page = edit(owner, loop, comment_required_for="x" * 201)
    assert (status, loop.comment_required_for) == (422, ["Decline", "A, B"])
    assert "Enter up to 100 options, each of up to 200 characters" in page
    assert edit(owner, loop, comment_required_for="")[0] == 302
    assert loop.comment_required_for == []


def test_how_long_requests_and_texts_stay(owner: User, loop: Loop, settings: Settings) -> None:
    settings.KEEP_REQUESTS_DAYS = 1_000
    page = words(signed_in(owner).get(f"/dashboard/loops/{loop.pk}/edit/"))
    assert "Empty: after 1,000 days, like the whole service." in page
    assert "Empty: never." in page
    assert edit(owner, loop, keep_texts_days=" 7 ", keep_requests_days="90")[0] == 302
    assert (loop.keep_texts_days, loop.keep_requests_days) == (7, 90)
    entry = AuditEntry.objects.filter(account=owner).latest("created_at")
    assert entry.action == "loop.days_changed"
    assert entry.subject == "Refund desk: texts 7 days, requests 90 days"
    assert edit(owner, loop, name="Renamed")[0] == 302
    assert (loop.keep_texts_days, loop.keep_requests_days) == (7, 90)
    source = signed_in(owner).get(f"/dashboard/loops/{loop.pk}/edit/").content.decode()
    assert 'value="90"' in source
    assert edit(owner, loop, keep_texts_days="", keep_requests_days="90")[0] == 302
    assert (loop.keep_texts_days, loop.keep_requests_days) == (None, 90)


@pytest.mark.parametrize("typed", ["3", "0", "-4", "5.5", "1001", "²", "never"])
def test_what_is_no_number_of_days(owner: User, loop: Loop, settings: Settings, typed: str) -> None:
    settings.KEEP_REQUESTS_DAYS = 1_000
    status, page = edit(owner, loop, keep_requests_days=typed)
    assert status == 422
    assert "Enter a whole number of days from 4 to 1,000" in page
    assert loop.keep_requests_days is None


def test_deleting_sooner_asks_who_it_is(owner: User, loop: Loop, settings: Settings) -> None:
    Loop.objects.filter(pk=loop.pk).update(keep_requests_days=90)
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 0
    response = signed_in(owner).post(
        f"/dashboard/loops/{loop.pk}/edit/",
        {"name": loop.name, "icon": loop.icon, "keep_requests_days": "80"},
    )
    loop.refresh_from_db()
    assert "/reauthenticate/" in response["Location"]
    assert loop.keep_requests_days == 90
    assert edit(owner, loop, keep_requests_days="100")[0] == 302
    assert loop.keep_requests_days == 100


@pytest.mark.parametrize("typed", ["1.000", "１０００", "1 000", "1000\u200b", "١٠٠٠"])
def test_days_are_read_by_the_language(owner: User, loop: Loop, typed: str) -> None:
    browser = signed_in(owner, headers={"accept-language": "de"})
    form = {"name": loop.name, "icon": loop.icon, "keep_requests_days": typed}
    browser.post(f"/dashboard/loops/{loop.pk}/edit/", form)
    loop.refresh_from_db()
    assert loop.keep_requests_days == 1000
