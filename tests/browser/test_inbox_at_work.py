"""Searching the inbox and working through what was found, with the list beside the question."""

import re

from playwright.sync_api import Page, expect

from accounts.models import User
from tests.browser.contexts import SIZES
from tests.browser.test_portal_life import Desk, looks_right
from tests.browser.test_portal_life import desk as desk
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make

PLACES = """() => [...document.querySelectorAll(".sidebar [data-row]")]
  .map((each) => [each.dataset.row, each.getBoundingClientRect().top])"""


def rows(page: Page) -> list[tuple[str, float]]:
    """The ids of the list, and where their rows are."""
    return [(pk, top) for pk, top in page.evaluate(PLACES)]


def test_search_then_answer_with_a_list_that_never_shifts(
    desk: Desk, member: User, make: Make
) -> None:
    first, second, third = (
        make(priority=priority, request_text=f"May order {priority} go out?")
        for priority in ("critical", "high", "low")
    )
    make(priority="critical", request_text="Another thing")
    page = desk.open(member, "/inbox/", size="desk")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("order")
    page.keyboard.press("Enter")
    expect(page.get_by_text("3 found")).to_be_visible()
    looks_right(page)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{desk.site}/inbox/{first.pk}/?q=order")
    before = rows(page)
    assert [pk for pk, _ in before] == [each.pk for each in (first, second, third)]
    current = page.locator(".sidebar [aria-current=page]")
    expect(current).to_contain_text("May order critical go out?")
    looks_right(page)

    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Sent: yes")).to_be_visible()
    expect(current).to_contain_text("May order high go out?")
    expect(page.locator(".sidebar .is-gone")).to_contain_text(re.compile("critical[^$]*Handled"))
    assert rows(page) == before
    page.keyboard.press("j")
    expect(current).to_contain_text("May order low go out?")
    page.keyboard.press("k")
    expect(current).to_contain_text("May order high go out?")
    assert rows(page) == before

    urgent = make(priority="critical", request_text="An urgent order")
    last = make(priority="low", request_text="The last order", timeout_seconds=9_000)
    page.keyboard.press("j")
    expect(page.locator(".sidebar").get_by_role("link", name="1 new")).to_be_visible()
    assert rows(page)[:3] == before
    assert [pk for pk, _ in rows(page)[3:]] == [last.pk]
    looks_right(page)
    page.locator(".sidebar").get_by_role("link", name="1 new").click()
    expect(page.locator(f'.sidebar [data-row="{urgent.pk}"]')).to_be_visible()
    expect(page.locator(".sidebar .is-gone")).to_have_count(0)
    expect(page.locator("html[data-keys-on]")).to_be_attached()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    expect(page.get_by_role("searchbox")).to_have_value("order")
    page.set_viewport_size(SIZES["phone"])  # type: ignore[arg-type]
    expect(page.locator(".sidebar")).to_be_hidden()
    looks_right(page)
