"""Only the page of a question with an image loads anything from another host, also when questions
follow each other without a reload."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from accounts.models import User
from reviews import services
from reviews.models import Request
from tests.browser.contexts import opened
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make

HOST = "https://pictures.example"
DOT = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9H0z"/></svg>'
# Whether this page would show an image of another host.
LETS_IN = """() => new Promise((done) => {
  const image = new Image();
  image.onload = () => done(true);
  image.onerror = () => done(false);
  image.src = "https://pictures.example/other.svg";
})"""


@pytest.fixture
def page(chromium: Browser, site: str, member: User) -> Iterator[Page]:
    with opened(chromium, site, member, has_touch=True) as context:
        context.route(f"{HOST}/**", lambda it: it.fulfill(body=DOT, content_type="image/svg+xml"))
        yield context.new_page()


def with_image(make: Make, **fields: Any) -> Request:
    return make(type="image", image_url=f"{HOST}/a.svg", **fields)


def mark(page: Page) -> None:
    page.evaluate("window.isTheSame = true")


def is_the_same(page: Page) -> bool:
    return bool(page.evaluate("window.isTheSame === true"))


def answer(page: Page, following: Request) -> None:
    page.locator(".choice", has_text="yes").tap()
    page.get_by_role("button", name="Send answer").tap()
    page.wait_for_url(f"**/inbox/{following.pk}/**")
    expect(page.get_by_text("Sent: yes")).to_be_visible()


def test_answering_from_text_to_image_and_back(page: Page, make: Make) -> None:
    first, second = make(priority="critical"), make(priority="high")
    image = with_image(make, priority="medium")
    last = make(priority="low")
    page.goto(f"/inbox/{first.pk}/")
    mark(page)
    answer(page, second)
    assert is_the_same(page)
    assert not page.evaluate(LETS_IN)
    answer(page, image)
    assert not is_the_same(page)
    page.wait_for_function("() => document.querySelector('[data-zoom] img').naturalWidth === 9")
    assert page.evaluate(LETS_IN)
    mark(page)
    answer(page, last)
    assert not is_the_same(page)
    assert not page.evaluate(LETS_IN)
    assert {services.read_request(each.pk).status for each in (first, second, image)} == {
        "completed"
    }


def test_skipping_and_going_back(page: Page, make: Make) -> None:
    image, text = with_image(make, priority="critical"), make(priority="low")
    page.goto(f"/inbox/{image.pk}/")
    assert page.evaluate(LETS_IN)
    page.get_by_role("link", name="Skip", exact=True).tap()
    page.wait_for_url(f"**/inbox/{text.pk}/**")
    assert not page.evaluate(LETS_IN)
    page.go_back()
    page.wait_for_url(f"**/inbox/{image.pk}/")
    assert page.evaluate(LETS_IN)


def test_an_image_that_is_gone_takes_its_policy_with_it(
    page: Page, member: User, make: Make
) -> None:
    image = with_image(make)
    page.goto(f"/inbox/{image.pk}/#main")
    page.locator(".choice", has_text="yes").tap()
    services.remove_member(loop_id=image.loop_id, account_id=image.creator_id, member_id=member.pk)
    expect(page.get_by_role("heading", name="You can’t see this question")).to_be_visible()
    expect(page.get_by_text("yes", exact=True)).to_be_visible()  # what was chosen is kept
    assert not page.evaluate(LETS_IN)
