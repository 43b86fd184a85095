"""What somebody typed whose session ended meanwhile: it is there again after they sign in."""

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.test import Client

from accounts.models import ApiKey, User
from accounts.pages import kept
from accounts.services import create_api_key
from loops.models import Loop, Membership
from reviews import services
from reviews.models import Feedback, Request
from tests.conftest import PASSWORD
from tests.portal import signed_in, words
from tests.reviews.conftest import Make
from webhooks.models import Delivery

BASE = "/dashboard/"
KEY = {"name": "Refund bot", "permissions": ["loops:read"], "expires_at": "2099-03-01T10:00"}
QUESTION = {"request_text": "May it go?", "response_type": "rating", "scale_max": "7"}
FORMS: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "keys/new/",
        KEY,
        ['value="Refund bot"', 'value="loops:read"[^>]* checked', 'value="2099-03-01T10:00"'],
    ),
    ("loops/new/", {"name": "Legal", "icon": "certificate"}, ["Legal", '"certificate" checked']),
    ("loops/{loop}/edit/", {"name": "Refunds", "icon": "heart"}, ["Refunds", '"heart" checked']),
    ("loops/{loop}/invite/", {"email": "ada@example.org"}, ['value="ada@example.org"']),
    ("requests/new/", QUESTION, [">\\s*May it go\\?", '"rating"[^>]* checked', 'value="7"']),
    (
        "requests/{request}/feedback/",
        {"rating": "4", "comment": "Fine!"},
        ['"4" selected', "Fine!"],
    ),
    ("account/", {"name": "Olive", "time_zone": "Asia/Tokyo"}, ["Olive", 'Tokyo" selected']),
    (
        "deliveries/test/",
        {"url": "https://a.example/hook"},
        ['id="test" open', 'value="https://a.example/hook"'],
    ),
    (
        "deliveries/resend-dead/",
        {"since": "2026-01-02T03:04"},
        ['id="dead" open', "2026-01-02T03:04"],
    ),
    ("keys/{key}/roll/", {"overlap": "168"}, ['value="168"[^>]* checked']),
]


@pytest.fixture
def ids(owner: User, member: User, loop: Loop, make: Make) -> dict[str, str]:
    request = make()
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    key, _ = create_api_key(user=owner, name="CI")
    return {"loop": loop.pk, "request": request.pk, "key": key.pk}


def expire(browser: Client) -> None:
    browser.session.flush()


def sign_in(browser: Client, user: User, answer: Any) -> Any:
    """From an answer that leads to the sign-in page, to where that leads."""
    assert answer["Location"].startswith("/accounts/login/?next=/dashboard/")
    where = answer["Location"].partition("next=")[2]
    form = {"login": user.email, "password": PASSWORD, "next": where}
    return browser.post("/accounts/login/", form, follow=True)


@pytest.mark.parametrize(("path", "typed", "there"), FORMS, ids=[form[0] for form in FORMS])
def test_what_was_typed_is_there_again(
    owner: User, ids: dict[str, str], path: str, typed: dict[str, Any], there: list[str]
) -> None:
    browser = signed_in(owner)
    expire(browser)
    where = BASE + path.format(**ids)
    before = counts()
    answer = sign_in(browser, owner, browser.post(where, typed))
    page = answer.content.decode()
    assert answer.status_code == 200
    assert kept.SAID in words(answer)
    assert [each for each in there if not re.search(each, page)] == []
    assert counts() == before
    again = browser.get(answer.request["PATH_INFO"])
    assert kept.SAID not in words(again)
    assert not all(re.search(each, again.content.decode()) for each in there)


def test_an_address_is_kept_on_the_page_of_another_maker(owner: User) -> None:
    browser = signed_in(owner)
    expire(browser)
    typed = {"email": "ada@example.org", "action_add": ""}
    answer = browser.post("/accounts/email/", typed)
    form = {"login": owner.email, "password": PASSWORD, "next": "/accounts/email/"}
    assert answer["Location"] == "/accounts/login/?next=/accounts/email/"
    page = browser.post("/accounts/login/", form, follow=True)
    assert kept.SAID in words(page)
    assert 'value="ada@example.org"' in page.content.decode()
    assert EmailAddress.objects.filter(user=owner).count() == 1


def counts() -> list[int]:
    """Of everything that these forms could make or change."""
    tables: list[Any] = [ApiKey, Loop, Membership, Request, Feedback, Delivery]
    return [table.objects.count() for table in tables]


def test_secrets_are_not_kept(owner: User) -> None:
    browser = signed_in(owner)
    expire(browser)
    answer = browser.post(f"{BASE}webhook-secret/set/", {"secret": "a secret of my own"})
    assert "a secret of my own" not in str(dict(browser.session))
    page = sign_in(browser, owner, answer)
    assert page.request["PATH_INFO"] == f"{BASE}webhook-secret/"
    assert "a secret of my own" not in page.content.decode()


def test_nor_is_what_no_person_types(owner: User) -> None:
    browser = signed_in(owner)
    expire(browser)
    answer = browser.post(f"{BASE}keys/new/", {"name": "x" * (kept.LONGEST + 1)})
    assert kept.SAID not in words(sign_in(browser, owner, answer))


def test_it_is_for_its_own_page(owner: User, loop: Loop) -> None:
    browser = signed_in(owner)
    expire(browser)
    browser.post(f"{BASE}loops/new/", {"name": "Legal"})
    browser.post("/accounts/login/", {"login": owner.email, "password": PASSWORD})
    assert 'value="Refund desk"' in browser.get(f"{BASE}loops/{loop.pk}/edit/").content.decode()
    assert 'value="Legal"' in browser.get(f"{BASE}loops/new/").content.decode()


def test_whoever_comes_much_later_finds_nothing(owner: User) -> None:
    browser = signed_in(owner)
    expire(browser)
    answer = browser.post(f"{BASE}loops/new/", {"name": "Legal"})
    session = browser.session
    session["kept_form"]["at"] -= kept.LONGEST_WAIT + 1
    session.save()
    page = sign_in(browser, owner, answer)
    assert "Legal" not in page.content.decode()
