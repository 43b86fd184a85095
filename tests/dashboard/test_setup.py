"""The checklist of a new account: each step leads to the next, and it can be hidden for good."""

import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import ApiKey, User
from accounts.services import create_api_key, set_key_state
from loops.models import Loop
from reviews import services
from reviews.models import Request
from tests.conftest import Api
from tests.portal import signed_in, words
from tests.reviews.conftest import make_overdue

pytestmark = pytest.mark.django_db
PAGE = "/dashboard/"


@pytest.fixture
def browser(outsider: User) -> Client:
    """Of somebody who has just signed up."""
    return signed_in(outsider)


def once(page: Any, step: str) -> str:
    """The token in the form of the step."""
    form = re.search(rf'action="/dashboard/setup/{step}/".*?</form>', page.content.decode(), re.S)
    assert form
    token = re.search(r'name="once"\s+value="([^"]+)"', form[0])
    assert token
    return token[1]


def done(page: Any) -> list[bool]:
    """Which of the five steps are done."""
    (steps,) = re.findall(r'<ol class="setup">.*?</ol>', page.content.decode(), re.S)
    labels = re.findall(r'aria-label="(Done|To do)"', steps)
    assert len(labels) == 5
    return [label == "Done" for label in labels]


def test_from_nothing_to_a_program(browser: Client, outsider: User, settings: Settings) -> None:
    settings.SITE_URL = "https://review.example.com"
    page = browser.get(PAGE)
    assert done(page) == [False] * 5
    assert 'value="Outsider’s loop"' in page.content.decode()
    token = once(page, "loop")
    for _ in range(2):  # a double click
        made = browser.post(f"{PAGE}setup/loop/", {"name": "My <desk>", "once": token})
        assert made["Location"] == f"{PAGE}#setup"
    loop = Loop.objects.get()
    page = browser.get(PAGE)
    assert done(page) == [True, False, False, False, False]
    assert "It goes to everyone in <bdi>My &lt;desk&gt;</bdi>" in page.content.decode()
    token = once(page, "ask")
    assert browser.post(f"{PAGE}setup/ask/", {"once": token})["Location"] == f"{PAGE}#setup"
    request = Request.objects.get()
    assert (request.loop_id, request.platform) == (loop.pk, "web_portal")
    page = browser.get(PAGE)
    assert done(page) == [True, True, False, False, False]
    source = page.content.decode()
    assert f'href="/inbox/{request.pk}/"' in source
    assert 'src="data:image/png;base64,' in source
    browser.post(f"/inbox/{request.pk}/answer/", {"answer": "Refund"})
    assert 'href="/dashboard/"' in browser.get(f"/inbox/{request.pk}/done/").content.decode()
    page = browser.get(PAGE)
    assert done(page) == [True, True, True, False, False]
    assert 'href="/dashboard/keys/new/"' in page.content.decode()
    _, secret = create_api_key(user=outsider, name="first")
    page = browser.get(PAGE)
    assert done(page) == [True, True, True, True, False]
    url = f"/v1/api/loops/{loop.pk}/requests"
    assert f'{url}" \\ -H "Authorization: Bearer $REVIEW_LOOP_KEY" -H' in words(page)
    assert (
        f'{url}", headers={{"Authorization": "Bearer " + os.environ["REVIEW_LOOP_KEY"]}}'
        in words(page)
    )
    Api(secret).post(f"/v1/api/loops/{loop.pk}/requests", asked())
    assert "Get your first answers" not in words(browser.get(PAGE))


def asked() -> dict[str, Any]:
    return {
        "processing_type": "deferred", "type": "markdown", "priority": "low",
        "request_text": "?", "response_type": "text", "response_config": {},
        "default_response": "", "platform": "api",
    }  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_a_double_click_asks_once(outsider: User) -> None:
    browser = signed_in(outsider)
    browser.post(f"{PAGE}setup/loop/", {"name": "Desk"})
    token = once(browser.get(PAGE), "ask")
    for _ in range(2):
        assert browser.post(f"{PAGE}setup/ask/", {"once": token})["Location"] == f"{PAGE}#setup"
    assert Request.objects.count() == 1


def test_a_question_that_timed_out_is_asked_again(browser: Client, outsider: User) -> None:
    browser.post(f"{PAGE}setup/loop/", {"name": "Desk"})
    browser.post(f"{PAGE}setup/ask/")
    assert done(browser.get(PAGE))[:3] == [True, True, False]
    make_overdue(Request.objects.get())
    assert done(browser.get(PAGE))[:3] == [True, False, False]


def test_a_key_that_ended_does_not_count(browser: Client, outsider: User) -> None:
    key, _ = create_api_key(user=outsider, name="first")
    assert done(browser.get(PAGE))[3]
    set_key_state(key=key, state=ApiKey.State.REVOKED)
    assert not done(browser.get(PAGE))[3]


def test_no_code_for_an_address_that_a_phone_cannot_reach(
    browser: Client, settings: Settings
) -> None:
    settings.SITE_URL = "http://localhost:8000"
    browser.post(f"{PAGE}setup/loop/", {"name": "Desk"})
    browser.post(f"{PAGE}setup/ask/")
    page = browser.get(PAGE)
    assert "data:image/png" not in page.content.decode()
    assert "http://localhost:8000 , which only this computer can reach" in words(page)


def test_it_is_hidden_for_good(browser: Client, outsider: User, owner: User) -> None:
    assert browser.get(f"{PAGE}setup/hide/")["Location"] == PAGE
    assert "Get your first answers" in words(browser.get(PAGE))
    browser.post(f"{PAGE}setup/hide/")
    browser.get(PAGE)
    assert "Get your first answers" not in words(browser.get(PAGE))
    assert "Get your first answers" not in words(signed_in(outsider).get(PAGE))
    assert "Get your first answers" in words(signed_in(owner).get(PAGE))


def test_what_goes_wrong(browser: Client) -> None:
    refused = browser.post(f"{PAGE}setup/loop/", {"name": " "})
    assert refused.status_code == 422
    assert "Give the loop a name" in words(refused)
    assert browser.post(f"{PAGE}setup/ask/")["Location"] == f"{PAGE}#setup"
    assert not Request.objects.exists()


def test_others_questions_do_not_count(owner: User, member: User, loop: Loop) -> None:
    """A member answers in somebody else's loop."""
    browser = signed_in(owner)
    browser.post(f"{PAGE}setup/ask/")
    services.answer_request(request=Request.objects.get(), reviewer_id=member.pk, answer="Refund")
    assert done(signed_in(member).get(PAGE)) == [False] * 5
    assert done(browser.get(PAGE))[:3] == [True] * 3


def test_a_new_key_is_in_the_lines_that_ask(
    owner: User, loop: Loop, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    browser = signed_in(owner)
    token = re.search(
        r'name="token" value="([^"]+)"', browser.get(f"{PAGE}keys/new/").content.decode()
    )
    assert token
    fields = {"name": "Agent", "token": token[1], "permissions": ["requests:write"]}
    page = words(browser.post(f"{PAGE}keys/new/", fields, follow=True))
    secret = re.search(r"rl_live_\w{36}", page)
    assert secret
    url = f"/v1/api/loops/{loop.pk}/requests"
    assert f'{url}" \\ -H "Authorization: Bearer {secret[0]}" -H' in page
    assert f'{url}", headers={{"Authorization": "Bearer {secret[0]}"}}, json={{' in page
