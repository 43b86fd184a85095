"""Keys and taps that were meant for the page before: none of them acts on the next one."""

from typing import Any

from playwright.sync_api import Page, Route, expect
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


def hold_back(page: Page, path: str) -> list[Route]:
    """The first call of the path, which waits until it is continued."""
    held: list[Route] = []
    page.route(path, lambda route: route.fallback() if held else held.append(route))
    return held


def wait_for(page: Page, held: list[Route]) -> Route:
    while not held:
        page.wait_for_timeout(10)
    return held[0]


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


def test_the_pointer_ends_the_pause(desk: Desk, member: User, make: Make) -> None:
    request, following = make(priority="critical", **TEXT), make(priority="low")
    page = desk.open(member, f"/inbox/{request.pk}/", size="desk")
    page.get_by_role("textbox", name="Your answer").press_sequentially("Half a ")
    make_overdue(request)
    expect(page.get_by_role("main").get_by_text("Time’s up")).to_be_visible()
    page.locator(".thumb-zone").get_by_role("link", name="Next question").click()
    expect(page).to_have_url(f"{desk.site}/inbox/{following.pk}/?skipped={request.pk}")
    page.keyboard.press("1")
    expect(page.get_by_label("yes")).to_be_checked()


def test_typing_on_while_a_claim_is_taken(desk: Desk, member: User, make: Make) -> None:
    request = make(priority="critical", **TEXT)
    make(priority="low")
    page = desk.open(member, f"/inbox/{request.pk}/", size="desk")
    held = hold_back(page, "**/claim/*")
    page.get_by_role("button", name="I’m on it").click()
    field = page.get_by_role("textbox", name="Your answer")
    field.focus()
    page.keyboard.type("Ye")
    wait_for(page, held).continue_()
    expect(page.get_by_role("button", name="Release")).to_be_visible()
    page.keyboard.type("s, refund")
    expect(field).to_have_value("Yes, refund")
    assert page.url == f"{desk.site}/inbox/{request.pk}/"


def test_typing_on_while_an_answer_is_sent(desk: Desk, member: User, make: Make) -> None:
    first, second = make(priority="critical", **TEXT), make(priority="low")
    page = desk.open(member, f"/inbox/{first.pk}/", size="desk")
    sent = note_answers(page)
    held = hold_back(page, "**/answer/*")
    page.get_by_role("textbox", name="Your answer").fill("Order 4821")
    page.keyboard.press("Control+Enter")
    page.keyboard.type(" is")
    wait_for(page, held).continue_()
    expect(page.get_by_text("Sent: Order 4821")).to_be_visible()
    page.keyboard.type(" 1 of 2")
    page.keyboard.press("Enter")
    page.evaluate("0")
    assert sent == [first.pk]
    expect(page.get_by_role("radio", name="no")).not_to_be_checked()
    assert services.read_request(second.pk).status == "pending"


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


def test_a_double_tap_in_the_inbox_sends_nothing(desk: Desk, member: User, make: Make) -> None:
    """“Start with the most urgent” is where “Send answer” comes."""
    request = make(**OPTIONAL)
    page = desk.open(member, "/my-work/")
    stop_the_clock(page, "/inbox/")
    sent = note_answers(page)
    page.get_by_role("link", name="Start with the most urgent").tap()
    expect(page.locator("html[data-keys-on] [data-question]")).to_be_attached()
    page.get_by_role("button", name="Send answer").tap()
    page.evaluate("0")
    assert sent == []

    page.clock.run_for(1_000)
    page.get_by_role("button", name="Send answer").tap()
    expect(page.get_by_role("heading", name="Answer sent")).to_be_visible()
    assert services.read_request(request.pk).response_data == []


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


def test_who_comments_quickly_need_not_wait(desk: Desk, member: User, make: Make) -> None:
    make(**OPTIONAL)
    page = desk.open(member, "/my-work/", size="desk")
    stop_the_clock(page, "/inbox/")
    page.locator("[data-row] a").first.click()
    expect(page.locator("html[data-keys-on] [data-question]")).to_be_attached()
    page.locator("[data-comment] summary").click()
    page.get_by_role("textbox", name="Comment").fill("Neither")
    page.get_by_role("button", name="Send answer").click()
    expect(page.get_by_role("heading", name="Answer sent")).to_be_visible()
