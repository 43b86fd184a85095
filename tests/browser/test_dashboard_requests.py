"""Requests in a browser: asked, found, cancelled, given feedback; and the overview."""

import json
import re
import shlex
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from accounts.models import User
from reviews import services
from reviews.models import Feedback, Request
from reviews.response_types import TYPES
from tests.browser.contexts import opened
from tests.browser.dashboard import enter
from tests.browser.visitor import Visitor
from tests.conftest import account
from tests.dashboard.scene import draw

LIST = "/dashboard/requests/"


@pytest.fixture
def scene(owner: User) -> dict[str, Any]:
    return draw(owner, account("member"))


def curl(page: Page) -> dict[str, Any]:
    """The body of the command on the page."""
    text = page.locator("#curl code").inner_text()
    body: dict[str, Any] = json.loads(shlex.split(text.replace("\\\n", " "))[-1])
    return body


def shows(page: Page, text: str) -> None:
    """The command comes to have this in it; without scripts a button asks for it."""
    button = page.get_by_role("button", name="Show as curl")
    if button.is_visible():
        button.click()
    expect(page.locator("#curl code")).to_contain_text(text)


def test_filters_leave_a_phone_room_for_what_they_find(
    anyone: Visitor, owner: User, scene: dict[str, Any]
) -> None:
    enter(anyone, owner, LIST)
    page = anyone.page
    status, fold = page.get_by_label("Status", exact=True), page.get_by_label("Filters")
    if page.get_by_text("Filters", exact=True).is_visible():
        expect(status).to_be_hidden()
        fold.focus()
        page.keyboard.press("Space")
    status.select_option("Completed")
    anyone.press("Search")
    expect(status).to_be_visible()  # what narrows the list is in sight
    assert "status=completed" in page.url


def test_asking_with_the_command_beside_it(
    anyone: Visitor, owner: User, scene: dict[str, Any]
) -> None:
    enter(anyone, owner, f"{LIST}new/?loop={scene['loop'].pk}")
    page = anyone.page
    expect(page.get_by_label("Options", exact=True)).to_be_visible()
    expect(page.get_by_label("To", exact=True)).to_be_hidden()
    page.get_by_text("Rating", exact=True).click()
    expect(page.get_by_label("Options", exact=True)).to_be_hidden()
    page.get_by_label("To", exact=True).fill("10")
    page.get_by_label("Question", exact=True).fill("How good is it?")
    shows(page, "How good is it?")
    assert curl(page)["response_config"]["scale_max"] == 10
    anyone.press("Send request")
    anyone.reads("Default response must be a number")
    expect(page.get_by_label("Question", exact=True)).to_have_value("How good is it?")
    page.get_by_label("Default response").fill("5")
    anyone.press("Send request")
    anyone.reads("Asked 2 members.")
    made = Request.objects.latest("created_at")
    assert (made.default_response, made.response_config["scale_max"]) == (5, 10)


def test_the_command_keeps_up_without_aborting(
    chromium: Browser, site: str, owner: User, scene: dict[str, Any]
) -> None:
    """Each abort of a request used to put two errors into the console."""
    with opened(chromium, site, owner) as context:
        visitor = Visitor(context.new_page())
        page, held, lost = visitor.page, list[Route](), list[str]()
        page.on("requestfailed", lambda request: lost.append(request.url))
        page.route("**/curl/", lambda route: held.append(route))
        page.clock.install()
        visitor.open(f"{LIST}new/")
        field = page.get_by_label("Question", exact=True)
        field.fill("May it")
        with page.expect_request("**/curl/"):
            page.clock.run_for(400)
        page.evaluate("0")
        field.fill("May it go out?")
        page.clock.run_for(400)  # it waits for the first answer
        with page.expect_request("**/curl/"):
            held.pop().continue_()
        page.evaluate("0")  # its route has come by now
        held.pop().continue_()
        expect(page.locator("#curl code")).to_contain_text("May it go out?")
        assert (visitor.refused, lost) == ([], [])


def test_each_response_type_shows_its_own_settings(
    anyone: Visitor, owner: User, scene: dict[str, Any]
) -> None:
    enter(anyone, owner, f"{LIST}new/")
    settings = {setting.name for kind in TYPES.values() for setting in kind.settings}
    anyone.page.get_by_text("Rules for the answer").click()
    for kind in TYPES.values():
        anyone.page.locator(f"[name=response_type][value={kind.name}]").check()
        seen = {name for name in settings if anyone.page.locator(f"[name={name}]").is_visible()}
        assert seen == {setting.name for setting in kind.settings}
        expect(anyone.page.get_by_label("Answer required")).to_be_visible()


def test_finding(anyone: Visitor, owner: User, scene: dict[str, Any]) -> None:
    enter(anyone, owner, LIST)
    page = anyone.page
    page.get_by_label("Search").fill("card")
    if page.get_by_text("Filters", exact=True).is_visible():
        page.get_by_text("Filters", exact=True).click()
    page.get_by_label("Status").select_option("claimed")
    anyone.press("Search")
    assert "q=card" in page.url
    assert "status=claimed" in page.url
    expect(page.locator("tbody tr")).to_have_count(1)
    anyone.follow("Block this card?")
    anyone.reads("Claimed by Member")
    page.go_back()
    expect(page.get_by_label("Status")).to_have_value("claimed")
    anyone.follow("Clear")
    expect(page.locator("tbody tr")).to_have_count(30)


def test_cancelling(anyone: Visitor, owner: User, scene: dict[str, Any]) -> None:
    enter(anyone, owner, f"{LIST}{scene['pending'].pk}/")
    anyone.reads("The cup arrived broken")
    anyone.page.get_by_text("Cancel request").first.click()
    anyone.press("Yes, cancel it")
    anyone.reads("Request cancelled.")
    assert services.read_request(scene["pending"].pk).status == "cancelled"


def test_nothing_is_offered_for_rows_that_cannot_be_selected(
    anyone: Visitor, owner: User, scene: dict[str, Any]
) -> None:
    enter(anyone, owner, f"{LIST}?status=completed")
    cancel = anyone.page.get_by_role("button", name="Cancel selected…")
    expect(anyone.page.locator("tbody tr").first).to_be_visible()
    expect(cancel).to_be_hidden()
    expect(anyone.page.get_by_label("Select all on this page")).to_be_hidden()
    anyone.open(f"{LIST}?status=pending")
    expect(cancel).to_be_visible()


def test_feedback(anyone: Visitor, owner: User, scene: dict[str, Any]) -> None:
    enter(anyone, owner, f"{LIST}{scene['completed'].pk}/")
    page = anyone.page
    page.get_by_label("Rating").select_option("3")
    page.get_by_text("More detail").click()
    page.get_by_label("Tags").fill("quick, short")
    page.get_by_label("Comment").fill("x" * 1001)
    anyone.press("Replace feedback")
    anyone.reads("At most 1,000 characters; these are 1,001")
    expect(page.get_by_label("Tags")).to_have_value("quick, short")
    page.get_by_label("Comment").fill("Fine.")
    anyone.press("Replace feedback")
    anyone.reads("Feedback saved.")
    given = Feedback.objects.get(request=scene["completed"]).body
    assert given == {"rating": 3, "comment": "Fine.", "tags": ["quick", "short"]}


def test_overview(anyone: Visitor, owner: User, scene: dict[str, Any]) -> None:
    enter(anyone, owner, "/dashboard/")
    page = anyone.page
    anyone.reads("2 deliveries failed permanently since yesterday.")
    anyone.reads("Newsletter bot")
    chart = page.get_by_role("img", name=re.compile("^Answer times, in minutes"))
    expect(chart).to_be_visible()
    page.get_by_text("Data, in minutes").click()
    expect(page.get_by_role("table", name="Answer times, in minutes")).to_be_visible()
    anyone.follow("View all")
    expect(page.get_by_label("Status")).to_have_value("open")


def test_every_page_leads_to_the_inbox_and_back(
    anyone: Visitor, owner: User, scene: dict[str, Any]
) -> None:
    enter(anyone, owner, "/dashboard/")
    more = anyone.page.get_by_text("More", exact=True)
    if more.is_visible():
        more.click()
    anyone.go(anyone.page.get_by_role("link", name="My inbox").locator("visible=true"))
    assert anyone.page.url.endswith("/inbox/")
