"""An approval in the browser: by keyboard, without losing what was typed, and without scripts."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from accounts.models import User
from reviews import services
from reviews.models import Request
from tests.browser.contexts import opened
from tests.browser.looking import accessibility_faults
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make

ARGUMENTS = {"order": 4821, "amount": 129.5, "note": "Sorry!\nYours", "notify": True}
REFUND: dict[str, Any] = {
    "response_type": "approval",
    "response_config": {
        "proposal": {"name": "issue_refund", "arguments": ARGUMENTS, "risk": "high"},
        "actions": ["approve", "edit", "reject", "respond"],
    },
    "default_response": {"action": "reject"},
}


@pytest.fixture
def refund(make: Make) -> Request:
    return make(**REFUND)


@pytest.fixture
def page(chromium: Browser, site: str, owner: User, refund: Request) -> Iterator[Page]:
    with opened(chromium, site, owner, size="desk") as context:
        page = context.new_page()
        page.goto(f"/inbox/{refund.pk}/")
        yield page


def decided(request: Request) -> Any:
    return services.read_request(request.pk).response_data


def arrived(page: Page) -> None:
    expect(page.get_by_role("heading", name="Answer sent")).to_be_visible()


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_two_keys_approve(page: Page, refund: Request) -> None:
    press(page, "1")
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_focused()
    assert decided(refund) is None
    press(page, "Enter")
    arrived(page)
    assert decided(refund) == {"action": "approve", "edited": [], "arguments": ARGUMENTS}


def test_enter_alone_sends_nothing(page: Page, refund: Request) -> None:
    press(page, "Enter")
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_focused()
    assert decided(refund) is None


def test_three_keys_and_a_reason_reject(page: Page, refund: Request) -> None:
    press(page, "3")
    expect(page.get_by_label("Reason (optional)")).to_be_focused()
    page.keyboard.type("Too much, 1 2 3")
    press(page, "Control+Enter")
    arrived(page)
    assert decided(refund) == {"action": "reject", "message": "Too much, 1 2 3"}


def test_a_reply(page: Page, refund: Request) -> None:
    press(page, "4", "Control+Enter")
    expect(page.get_by_text("Write a message")).to_be_visible()
    expect(page.get_by_label("Message")).to_be_focused()
    page.keyboard.type("Which order?")
    press(page, "Control+Enter")
    arrived(page)
    assert decided(refund) == {"action": "respond", "message": "Which order?"}


def test_an_edit(page: Page, refund: Request) -> None:
    press(page, "2")
    expect(page.get_by_label("order")).to_be_focused()
    page.get_by_label("amount").fill("much")
    press(page, "Enter")
    expect(page.get_by_text("Enter a number in plain digits")).to_be_visible()
    expect(page.get_by_label("amount")).to_be_focused()
    page.get_by_label("amount").fill("99.5")
    page.get_by_label("notify").select_option("No")
    page.get_by_label("amount").press("Enter")
    expect(page.get_by_role("heading", name="Check your changes")).to_be_in_viewport()
    assert decided(refund) is None
    assert accessibility_faults(page) == []
    changes = page.locator("[data-changes]")
    assert changes.locator("del").all_inner_texts() == ["129.5", "yes"]
    assert changes.locator("ins").all_inner_texts() == ["99.5", "no"]
    page.get_by_role("button", name="Approve with changes").click()
    arrived(page)
    assert decided(refund) == {
        "action": "edit",
        "edited": ["amount", "notify"],
        "arguments": {**ARGUMENTS, "amount": 99.5, "notify": False},
    }


def test_nothing_typed_is_lost(page: Page, refund: Request) -> None:
    page.get_by_role("button", name="Edit and approve").click()
    page.get_by_label("amount").fill("99.5")
    page.reload()
    page.get_by_role("button", name="Edit and approve").click()
    expect(page.get_by_label("amount")).to_have_value("99.5")
    expect(page.get_by_label("order")).to_have_value("4821")
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("You changed amount.")).to_be_visible()
    expect(page.get_by_label("amount")).to_have_value("99.5")
    assert decided(refund) is None


def test_what_was_only_seen_is_no_draft(page: Page, owner: User, refund: Request) -> None:
    page.get_by_role("button", name="Edit and approve").click()
    services.answer_request(request=refund, reviewer_id=owner.pk, answer={"action": "reject"})
    page.reload()
    expect(page.get_by_role("heading", name="Your unsent answer")).to_be_hidden()
    assert page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('draft:'))") == []


def test_without_scripts(chromium: Browser, site: str, owner: User, refund: Request) -> None:
    with opened(chromium, site, owner, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"/inbox/{refund.pk}/")
        page.get_by_text("Edit and approve").click()
        page.get_by_label("amount").fill("99.5")
        page.get_by_label("amount").press("Enter")
        expect(page.get_by_text("Check your changes")).to_be_visible()
        page.get_by_role("button", name="Approve with changes").click()
        arrived(page)
    assert decided(refund)["edited"] == ["amount"]
