"""Keys and taps that were meant for the page before: none of them acts on the next one."""

from typing import Any

from playwright.sync_api import Page, expect
from playwright.sync_api import Request as HttpRequest

from accounts.models import User
from reviews import services
from tests.browser.test_portal_life import TEXT, Desk
from tests.browser.test_portal_life import desk as desk
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make, let_lease_run_out, make_overdue

OPTIONAL: dict[str, Any] = {
    "response_type": "multi_select",
    "response_config": {"options": ["boats", "storm"], "required": False},
    "default_response": ["boats"],
}


def note_answers(page: Page) -> list[str]:
    """The ids of the questions that the page sends answers to, from now on."""
    sent: list[str] = []

    def note(request: HttpRequest) -> None:
        if "/answer/" in request.url:
            sent.append(request.url.split("/")[-3])

    page.on("request", note)
    return sent


def stop_the_clock(page: Page, path: str) -> None:
    """Opens the path with a clock that stands still until a test moves it."""
    page.clock.install()
    page.goto(path)
    page.clock.pause_at(page.evaluate("Date.now() / 1000 + 1"))


def test_the_rest_of_a_sentence_is_no_shortcut(desk: Desk, member: User, make: Make) -> None:
    request, following = make(priority="critical", **TEXT), make(priority="low")
    path = f"/inbox/{request.pk}/"
    page = desk.open(member, "/my-work/", size="desk")
    page.clock.install()
    page.goto(path)
    page.get_by_role("textbox", name="Your answer").press_sequentially("Half a ")
    make_overdue(request)
    expect(page.get_by_role("main").get_by_text("Time’s up")).to_be_visible()
    for key in ("s", "j", "1", "Enter", "?", "/"):
        page.keyboard.press(key)
        page.clock.fast_forward(2_000)
    expect(page.get_by_role("heading", name="Keyboard shortcuts")).to_be_hidden()
    expect(page.get_by_role("searchbox")).not_to_be_focused()
    assert page.url == f"{desk.site}{path}"

    page.clock.fast_forward(3_000)
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{desk.site}/inbox/{following.pk}/?skipped={request.pk}")


def test_a_comment_keeps_its_focus(desk: Desk, member: User, make: Make) -> None:
    request = make(response_config={"options": ["yes", "no", "later"]})
    page = desk.open(member, f"/inbox/{request.pk}/", size="desk")
    page.get_by_role("button", name="I’m on it").click()
    expect(page.get_by_role("main").get_by_text("You’re on it")).to_be_visible()
    page.locator("summary", has_text="Add a comment").click()
    field = page.get_by_role("textbox", name="Comment")
    expect(field).to_be_focused()
    for typed, other in (("", "I’m on it"), ("Only ", "Release")):
        page.keyboard.type(typed)
        if other == "Release":
            services.claim_request(request=request, reviewer_id=member.pk)
        else:
            let_lease_run_out(request)
        expect(page.get_by_role("button", name=other)).to_be_visible()
        expect(field).to_be_focused()
    page.keyboard.type("2 of 3")
    expect(field).to_have_value("Only 2 of 3")
    expect(page.get_by_role("radio", name="no")).not_to_be_checked()


def test_a_held_enter_sends_one_answer(desk: Desk, member: User, make: Make) -> None:
    first, second = make(priority="critical"), make(priority="low", **OPTIONAL)
    page = desk.open(member, "/my-work/", size="desk")
    stop_the_clock(page, f"/inbox/{first.pk}/")
    sent = note_answers(page)
    page.keyboard.press("1")
    page.keyboard.down("Enter")
    expect(page.get_by_text("Sent: yes")).to_be_visible()
    page.clock.run_for(1_000)
    for _ in range(3):
        page.keyboard.down("Enter")  # a key that is down repeats
    page.evaluate("0")
    assert sent == [first.pk]

    page.keyboard.up("Enter")
    page.keyboard.press("Enter")  # it is optional, and may be sent without a choice
    expect(page.get_by_role("heading", name="2 answers sent")).to_be_visible()
    assert services.read_request(second.pk).response_data == []


def test_a_doubled_enter_leaves_the_next_draft(desk: Desk, member: User, make: Make) -> None:
    first, second = make(priority="critical"), make(priority="low", **TEXT)
    page = desk.open(member, f"/inbox/{second.pk}/", size="desk")
    page.get_by_role("textbox", name="Your answer").fill("Not yet")
    stop_the_clock(page, f"/inbox/{first.pk}/")
    sent = note_answers(page)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Sent: yes")).to_be_visible()
    expect(page.get_by_role("textbox", name="Your answer")).to_have_value("Not yet")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Send answer").click()
    page.evaluate("0")
    assert sent == [first.pk]

    page.clock.run_for(1_000)
    page.get_by_role("button", name="Send answer").click()
    expect(page.get_by_role("heading", name="2 answers sent")).to_be_visible()
    assert services.read_request(second.pk).response_data == "Not yet"


def test_who_chooses_quickly_need_not_wait(desk: Desk, member: User, make: Make) -> None:
    for priority in ("critical", "low"):
        make(priority=priority)
    page = desk.open(member, "/my-work/", size="desk")
    stop_the_clock(page, "/inbox/")
    page.locator("[data-row] a").first.click()
    expect(page.locator("html[data-keys-on] [data-question]")).to_be_attached()
    for heading in ("1 answer sent", "2 answers sent"):
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        if heading == "1 answer sent":
            expect(page.get_by_text("Sent: no")).to_be_visible()
    expect(page.get_by_role("heading", name=heading)).to_be_visible()
