"""A reviewer's whole round in a browser without JavaScript: join, claim, release, skip, answer."""

import pytest
from playwright.sync_api import Browser, expect

from accounts.models import User
from loops.models import Loop
from reviews import services
from tests.browser.contexts import opened
from tests.browser.visitor import Visitor
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make


@pytest.mark.usefixtures("transactional_db")
def test_join_claim_skip_and_answer(
    chromium: Browser, site: str, outsider: User, loop: Loop, make: Make
) -> None:
    first = make(priority="critical", request_text="The first question")
    second = make(priority="low", request_text="The second question")
    with opened(chromium, site, outsider, java_script_enabled=False) as context:
        visitor = Visitor(context.new_page())
        visitor.open(f"/join/{loop.invite_code}")
        visitor.press("Join Refund desk")
        visitor.reads("You’ve joined Refund desk.")
        visitor.go(visitor.page.get_by_role("link", name="Start with the most urgent"))
        visitor.reads("The first question")

        visitor.press("I’m on it")
        visitor.reads("You’re on it until")
        assert services.read_request(first.pk).claimed_by_id == outsider.pk
        visitor.press("Release")
        assert services.read_request(first.pk).status == "pending"

        visitor.follow("Skip")
        visitor.reads("The second question")
        visitor.page.get_by_text("no", exact=True).first.click()
        visitor.send()
        visitor.reads("You skipped 1. It’s still open.")
        visitor.follow("Next question")
        visitor.reads("The first question")
        services.answer_request(request=first, reviewer_id=loop.creator_id, answer="no")
        visitor.page.get_by_text("yes", exact=True).first.click()
        visitor.send()
        visitor.reads("Owner answered this question")
        visitor.reads("Your unsent answer")
        expect(visitor.page).to_have_title("Not sent: The first question · Review Loop")
    assert services.read_request(second.pk).response_data == "no"
