"""The offer of notifications: after the first answer, also where the questions never end."""

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from reviews.models import PushSubscription
from tests.browser.contexts import SIZES, sign_in
from tests.browser.looking import accessibility_faults
from tests.browser.test_push import context as context
from tests.browser.test_push import page as page
from tests.browser.test_push import phone as phone
from tests.browser.test_push import push_key as push_key
from tests.browser.test_push import service as service
from tests.browser.visitor import TOO_WIDE
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make

HIDDEN_BY_THE_THUMB_ZONE = """() => {
  scrollTo(0, document.documentElement.scrollHeight);
  const bottom = (selector) => document.querySelector(selector).getBoundingClientRect();
  return bottom("[data-push]").bottom - bottom(".thumb-zone").top;
}"""


@pytest.fixture
def reviewing(page: Page, site: str, member: User, make: Make) -> Page:
    """The first of three questions."""
    first, *_ = [make(priority=each) for each in ("critical", "high", "low")]
    sign_in(page.context, member, site)
    page.goto(f"/inbox/{first.pk}/")
    return page


def send(page: Page) -> None:
    page.locator(".choice", has_text="yes").click()
    page.get_by_role("button", name="Send answer").click()


@pytest.mark.parametrize("size", SIZES)
def test_it_comes_after_the_first_answer_alone(reviewing: Page, size: str) -> None:
    page = reviewing
    page.set_viewport_size(SIZES[size])  # type: ignore[arg-type]
    offer = page.get_by_role("button", name="Notify me on this device")
    assert page.locator("[data-push]").count() == 0
    send(page)
    expect(page.get_by_text("Sent: yes")).to_be_visible()
    expect(page.get_by_text("This device can notify you as soon as one arrives")).to_be_visible()
    assert page.evaluate(HIDDEN_BY_THE_THUMB_ZONE) <= 0
    assert page.evaluate(TOO_WIDE) == 0
    assert accessibility_faults(page) == []
    offer.click()
    expect(page.get_by_text("This device notifies you of new questions.")).to_be_visible()
    assert PushSubscription.objects.count() == 1
    send(page)
    page.wait_for_url("**n=2**")
    expect(page.locator("[data-push]")).to_have_count(0)
    send(page)
    expect(page.get_by_role("heading", name="3 answers sent")).to_be_visible()
    expect(offer).to_be_hidden()


def test_whoever_says_not_now_is_left_in_peace(reviewing: Page) -> None:
    page = reviewing
    send(page)
    page.get_by_role("button", name="Not now").click()
    expect(page.locator("[data-push]")).to_be_hidden()
    for number in (2, 3):
        send(page)
        page.wait_for_url(f"**n={number}**")
    expect(page.get_by_role("heading", name="3 answers sent")).to_be_visible()
    expect(page.get_by_role("button", name="Notify me on this device")).to_be_hidden()
