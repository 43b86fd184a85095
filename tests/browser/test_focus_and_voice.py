"""Where the focus goes, and what is spoken: after wrong answers, lost races, forms with errors."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from accounts.models import User
from reviews import services
from tests.browser.contexts import opened
from tests.browser.test_answer_zone import LONG
from tests.browser.visitor import Visitor
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make, make_overdue

LETTER: dict[str, Any] = {
    "response_type": "text",
    "response_config": {"min_length": 5},
    "default_response": "none",
}
POLL_NOW = "dispatchEvent(new Event('online'))"
SHAPES: list[tuple[dict[str, Any], str]] = [
    (LETTER, "Dear"),
    ({"response_type": "number", "response_config": {"max_value": 9}, "default_response": 1}, "x"),
    ({}, ""),
]


@pytest.fixture(params=[True, False], ids=["scripts", "no-scripts"])
def phone(
    request: pytest.FixtureRequest,
    chromium: Browser,
    site: str,
    transactional_db: None,
    member: User,
) -> Iterator[Page]:
    with opened(chromium, site, member, java_script_enabled=request.param) as context:
        yield context.new_page()


def test_a_wrong_answer_has_the_focus_and_is_in_view(phone: Page, make: Make) -> None:
    for shape, typed in SHAPES:
        request = make(request_text=LONG, **shape)
        phone.goto(f"/inbox/{request.pk}/")
        field = phone.locator("#answer-form [name=answer]").first
        if typed:
            field.fill(typed)
        Visitor(phone).send()
        expect(phone).to_have_title("Error: Paragraph 0. Read all of this. · Review Loop")
        expect(field).to_be_focused()
        expect(phone.locator("#answer-error")).to_be_in_viewport()
        expect(
            phone.locator("#answer-form :is(textarea, .number, .choice) >> nth=0")
        ).to_be_in_viewport()


@pytest.mark.parametrize("phone", [True], indirect=True, ids=["scripts"])
def test_lost_races_and_time_limits_are_spoken(
    phone: Page, owner: User, member: User, make: Make
) -> None:
    spoken = phone.locator("#spoken")
    lost = make()
    phone.goto(f"/inbox/{lost.pk}/")
    phone.get_by_text("yes", exact=True).first.click()
    services.answer_request(request=lost, reviewer_id=owner.pk, answer="no")
    Visitor(phone).send()
    expect(spoken).to_contain_text("Owner answered this question")
    expect(phone).to_have_title("Not sent: Should we refund order 4821? · Review Loop")

    late = make()
    phone.goto(f"/inbox/{late.pk}/")
    make_overdue(late)
    services.read_request(late.pk)
    phone.evaluate(POLL_NOW)
    expect(spoken).to_contain_text("Time’s up")

    claimed = make()
    phone.goto(f"/inbox/{claimed.pk}/")
    services.claim_request(request=claimed, reviewer_id=owner.pk)
    phone.get_by_role("button", name="I’m on it").click()
    expect(spoken).to_contain_text("Owner is on it")


def test_several_errors_are_listed_at_the_top(page: Page) -> None:
    """Without scripts too: the browser itself gives the focus."""
    page.goto("/accounts/signup/")
    page.get_by_role("button", name="Sign up").click()
    expect(page).to_have_title("Error: Sign up · Review Loop")
    summary = page.locator(".error-summary")
    expect(summary).to_be_focused()
    expect(summary.get_by_role("link")).to_have_count(3)
    summary.get_by_role("link").last.click()
    expect(page.locator("#id_password1")).to_be_focused()
    page.goto("/join/")
    page.get_by_role("button", name="Continue").click()
    expect(page).to_have_title("Error: Join a loop · Review Loop")
    expect(page.locator("#id_code")).to_be_focused()
    expect(summary).to_have_count(0)
