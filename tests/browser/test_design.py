"""What every page does by itself: appearance, the way past the navigation, one form sent once."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.contexts import opened, sign_in
from tests.conftest import account

DARK, LIGHT = "rgb(15, 17, 24)", "rgb(245, 246, 250)"


@pytest.fixture
def night(chromium: Browser, site: str) -> Iterator[Page]:
    """A page of somebody whose system is dark."""
    with opened(chromium, site, size="desk", color_scheme="dark") as context:
        yield context.new_page()


def test_the_appearance_follows_the_system_until_somebody_chooses(night: Page) -> None:
    night.goto("/")
    switch = night.get_by_role("button", name="Dark mode")
    expect(night.locator("body")).to_have_css("background-color", DARK)
    expect(switch).to_have_attribute("aria-pressed", "true")
    switch.click()
    expect(night.locator("body")).to_have_css("background-color", LIGHT)
    night.goto("/accounts/login/")
    expect(night.locator("html")).to_have_attribute("data-theme", "loop")
    expect(night.locator("body")).to_have_css("background-color", LIGHT)


def test_without_scripts_the_system_decides(chromium: Browser, site: str) -> None:
    options: dict[str, Any] = {"color_scheme": "dark", "java_script_enabled": False}
    with opened(chromium, site, size="desk", **options) as context:
        page = context.new_page()
        page.goto("/")
        expect(page.locator("body")).to_have_css("background-color", DARK)
        expect(page.locator("[data-theme-switch]")).to_be_hidden()


def test_the_keyboard_passes_the_navigation_and_sees_where_it_is(night: Page) -> None:
    night.goto("/")
    night.keyboard.press("Tab")
    skip = night.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    assert skip.evaluate("link => getComputedStyle(link).outlineWidth") == "3px"
    night.keyboard.press("Enter")
    expect(night.get_by_role("main")).to_be_focused()


def test_the_rest_of_the_navigation_opens_on_a_phone(
    transactional_db: None, page: Page, site: str
) -> None:
    sign_in(page.context, account("owner"), site)
    page.goto("/dashboard/deliveries/")
    more = page.get_by_role("navigation", name="Dashboard, short")
    expect(more.get_by_role("link", name="Deliveries")).to_have_attribute("aria-current", "page")
    expect(more.get_by_role("link", name="Sign out")).to_be_hidden()
    more.get_by_text("More").click()
    more.get_by_role("link", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign out")


def test_a_second_tap_sends_nothing_twice(chromium: Browser, site: str) -> None:
    with opened(chromium, site) as context:
        page = context.new_page()
        page.goto("/join/")
        posts: list[str] = []
        page.on("request", lambda request: posts.append(request.method))
        with page.expect_navigation():
            page.evaluate("""() => {
                const button = document.querySelector("main form button");
                button.click(); button.click();
            }""")
        assert posts.count("POST") == 1
