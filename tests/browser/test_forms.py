"""A form in a browser: kept as a draft, its errors, and the page without scripts."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from accounts.models import User
from reviews import services
from reviews.models import Request
from tests.browser.contexts import opened
from tests.browser.looking import accessibility_faults
from tests.browser.scene import PARCEL
from tests.browser.visitor import Visitor
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make

pytestmark = pytest.mark.usefixtures("transactional_db")

FORM = {
    name: PARCEL[name]
    for name in ("request_text", "response_type", "response_config", "default_response")
}


@pytest.fixture
def asked(make: Make, member: User) -> Request:
    User.objects.filter(pk=member.pk).update(time_zone="Europe/Berlin")
    return make(**FORM)


def fill_in(page: Page) -> None:
    page.get_by_label("Amount to refund in euros").fill("64.5")
    page.get_by_text("It arrived broken").click()
    page.get_by_label("Call back at").fill("2026-12-01T09:30")
    page.get_by_label("Country").select_option("NL")
    page.get_by_text("Saucer", exact=True).click()
    page.get_by_label("Note to the customer").fill("Two\nlines")
    page.get_by_label("The parcel was insured").uncheck()


def check_filled(page: Page) -> None:
    expect(page.get_by_label("Amount to refund in euros")).to_have_value("64.5")
    expect(page.get_by_label("It arrived broken")).to_be_checked()
    expect(page.get_by_label("Call back at")).to_have_value("2026-12-01T09:30")
    expect(page.get_by_label("Country")).to_have_value("NL")
    expect(page.get_by_label("Saucer", exact=True)).to_be_checked()
    expect(page.get_by_label("Cup", exact=True)).not_to_be_checked()
    expect(page.get_by_label("Note to the customer")).to_have_value("Two\nlines")
    expect(page.get_by_label("The parcel was insured")).not_to_be_checked()


STORED: dict[str, Any] = {
    "amount": 64.5,
    "reason": "broken",
    "call": "2026-12-01T09:30:00+01:00",
    "country": "NL",
    "parts": ["Saucer"],
    "note": "Two\nlines",
    "insured": False,
}


def test_a_draft_an_error_and_the_answer(
    chromium: Browser, site: str, member: User, asked: Request
) -> None:
    with opened(chromium, site, member, size="desk") as context:
        visitor = Visitor(context.new_page())
        page = visitor.page
        visitor.open(f"/inbox/{asked.pk}/")
        expect(page.get_by_label("The parcel was insured")).to_be_checked()
        fill_in(page)
        page.reload()
        check_filled(page)  # the draft counts more than the defaults
        page.get_by_label("Amount to refund in euros").fill("500")
        page.get_by_label("Note to the customer").fill("")
        visitor.send()
        wrong = page.get_by_label("Amount to refund in euros")
        expect(page.get_by_text("Amount to refund in euros must be at most 129")).to_be_visible()
        expect(page.get_by_text("Note to the customer is required")).to_be_visible()
        expect(wrong).to_be_focused()
        expect(wrong).to_have_value("500")
        expect(page.get_by_label("The parcel was insured")).not_to_be_checked()
        assert accessibility_faults(page) == []
        wrong.fill("64.5")
        page.get_by_label("Note to the customer").fill("Two\nlines")
        check_filled(page)
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("heading", name="Answer sent")).to_be_visible()
        expect(page.get_by_text("It arrived broken")).to_be_visible()
        assert page.evaluate("Object.keys(localStorage).filter(k => k.startsWith('draft'))") == []
    assert services.read_request(asked.pk).response_data == STORED


def test_keys_choose_no_option_of_a_form(
    chromium: Browser, site: str, member: User, asked: Request
) -> None:
    with opened(chromium, site, member, size="desk") as context:
        page = context.new_page()
        page.goto(f"/inbox/{asked.pk}/")
        page.keyboard.press("1")
        expect(page.get_by_label("It arrived broken")).not_to_be_checked()


def test_an_error_of_the_whole_form_has_the_focus(
    chromium: Browser, site: str, member: User, asked: Request
) -> None:
    added = "document.getElementById('answer-form').insertAdjacentHTML('beforeend', '%s')"
    with opened(chromium, site, member) as context:
        page = context.new_page()
        page.goto(f"/inbox/{asked.pk}/")
        fill_in(page)
        page.evaluate(added % '<input type="hidden" name="answer.other" value="x">')
        page.get_by_role("button", name="Send answer").click()
        wrong = page.get_by_text("response_data.other is no field of the schema")
        expect(wrong).to_be_focused()
        expect(wrong).to_be_in_viewport()
        check_filled(page)


def test_too_late_the_draft_can_be_copied(
    chromium: Browser, site: str, owner: User, member: User, asked: Request
) -> None:
    with opened(chromium, site, member) as context:
        page = context.new_page()
        page.goto(f"/inbox/{asked.pk}/")
        fill_in(page)
        answer = {"amount": 1, "reason": "late", "note": "First"}
        services.answer_request(request=asked, reviewer_id=owner.pk, answer=answer)
        page.reload()
        draft = page.locator("[data-draft-words]")
        expect(draft).to_contain_text("Amount to refund in euros: 64.5")
        expect(draft).to_contain_text("Reason: It arrived broken")
        expect(draft).to_contain_text("Country: NL")
        expect(draft).not_to_contain_text("insured")


def test_without_scripts(chromium: Browser, site: str, member: User, asked: Request) -> None:
    with opened(chromium, site, member, java_script_enabled=False) as context:
        visitor = Visitor(context.new_page())
        page = visitor.page
        visitor.open(f"/inbox/{asked.pk}/")
        fill_in(page)
        page.get_by_label("Note to the customer").fill("")
        visitor.send()
        visitor.reads("Note to the customer is required")
        expect(page.get_by_label("Note to the customer")).to_be_focused()
        page.get_by_label("Note to the customer").fill("Two\nlines")
        check_filled(page)
        visitor.send()
        visitor.reads("Answer sent")
    assert services.read_request(asked.pk).response_data == STORED
