"""Responses that come when the page shows another question, or when somebody has typed on."""

import pytest
from playwright.sync_api import Page, Route, expect

from accounts.models import User
from reviews import services
from reviews.models import Request
from tests.browser.test_portal_life import TEXT, Desk
from tests.browser.test_portal_life import desk as desk
from tests.browser.test_portal_sign_in import stop_polling
from tests.browser.test_typing import OPTIONAL, hold_back, note_answers, wait_for
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make

YES_NO = {"response_config": {"options": ["yes", "no", "later"]}}
NOT_SENT = "Your answer to an earlier question was not sent."


def settle(page: Page, held: Route) -> None:
    """Lets the response come, and the page do what it does with it."""
    with page.expect_response(held.request.url) as answer:
        held.continue_()
    answer.value.finished()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


def skip(page: Page, following: Request) -> None:
    page.get_by_role("link", name="Skip", exact=True).click()
    page.wait_for_url(f"**/inbox/{following.pk}/**")


def shown(page: Page) -> str | None:
    return page.locator("[data-question]").get_attribute("data-question")


@pytest.fixture
def three(make: Make) -> list[Request]:
    return [make(priority=each, **TEXT) for each in ("critical", "high", "low")]


@pytest.fixture
def sent_and_skipped(desk: Desk, member: User, three: list[Request]) -> tuple[Page, Route]:
    """A page that shows the second question, while the answer to the first is under way."""
    page = desk.open(member, f"/inbox/{three[0].pk}/")
    stop_polling(page)
    held = hold_back(page, "**/answer/*")
    page.get_by_role("textbox", name="Your answer").fill("First answer")
    page.get_by_role("button", name="Send answer").tap()
    wait_for(page, held)
    skip(page, three[1])
    return page, held[0]


def test_an_answer_that_came_too_late(
    sent_and_skipped: tuple[Page, Route], three: list[Request], owner: User
) -> None:
    page, held = sent_and_skipped
    services.answer_request(request=three[0], reviewer_id=owner.pk, answer="faster")
    settle(page, held)
    assert shown(page) == three[1].pk
    expect(page.get_by_text(NOT_SENT)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("main")).to_contain_text("First answer")


def test_an_answer_that_arrives_takes_no_page_away(
    sent_and_skipped: tuple[Page, Route], three: list[Request]
) -> None:
    page, held = sent_and_skipped
    skip(page, three[2])
    field = page.get_by_role("textbox", name="Your answer")
    field.press_sequentially("Half a ")
    settle(page, held)
    field.press_sequentially("sentence")
    assert shown(page) == three[2].pk
    expect(field).to_have_value("Half a sentence")
    assert services.read_request(three[0].pk).response_data == "First answer"
    expect(page.locator("[data-trouble]")).to_be_hidden()


@pytest.mark.parametrize("status", [0, 503])
def test_no_connection_to_a_question_that_is_left(
    sent_and_skipped: tuple[Page, Route], status: int
) -> None:
    page, held = sent_and_skipped
    if status:
        held.fulfill(status=status)
    else:
        held.abort()
    expect(page.get_by_text(NOT_SENT)).to_be_visible()
    expect(page.get_by_text("It is saved here")).to_be_hidden()


def test_an_error_leaves_the_next_question_alone(desk: Desk, member: User, make: Make) -> None:
    first, second = make(priority="critical", **YES_NO), make(priority="high", **TEXT)
    page = desk.open(member, f"/inbox/{first.pk}/", size="desk")
    held = hold_back(page, "**/answer/*")
    page.get_by_role("button", name="Send answer").click()
    wait_for(page, held)
    skip(page, second)
    field = page.get_by_role("textbox", name="Your answer")
    field.press_sequentially("Please ship or")
    settle(page, held[0])
    page.keyboard.type("der 2")
    assert shown(page) == second.pk
    expect(field).to_have_value("Please ship order 2")


@pytest.mark.parametrize("chosen", [None, "yes"])
def test_an_error_leaves_the_field_that_somebody_types_in(
    desk: Desk, member: User, make: Make, chosen: str | None
) -> None:
    request = make(**YES_NO)
    page = desk.open(member, f"/inbox/{request.pk}/", size="desk")
    held = hold_back(page, "**/answer/*")
    page.locator("summary", has_text="Add a comment").click()
    comment = page.get_by_role("textbox", name="Comment")
    comment.press_sequentially("Only for order")
    page.keyboard.press("Control+Enter")
    wait_for(page, held)
    page.keyboard.type(" num")
    if chosen:
        page.get_by_text(chosen, exact=True).click()
        comment.focus()
    settle(page, held[0])
    expect(page.get_by_text("Choose one of the options")).to_be_visible()
    page.keyboard.type("ber 2")
    page.keyboard.press("Enter")
    page.keyboard.type("s")
    expect(comment).to_have_value("Only for order number 2\ns")
    assert services.read_request(request.pk).status == "pending"
    for each in ("yes", "no", "later"):
        expect(page.get_by_role("radio", name=each)).to_be_checked(checked=each == chosen)


def test_a_claim_that_is_taken_too_late_is_released(
    desk: Desk, member: User, three: list[Request]
) -> None:
    page = desk.open(member, f"/inbox/{three[0].pk}/")
    held = hold_back(page, "**/claim/*")
    page.get_by_role("button", name="I’m on it").tap()
    wait_for(page, held)
    skip(page, three[1])
    with page.expect_request("**/release/*"):
        settle(page, held[0])
    assert shown(page) == three[1].pk


def test_a_skip_that_comes_after_the_next_question(
    desk: Desk, member: User, three: list[Request]
) -> None:
    page = desk.open(member, f"/inbox/{three[0].pk}/", size="desk")
    held = hold_back(page, "**/inbox/*/?skipped*")
    page.get_by_role("link", name="Skip", exact=True).click()
    wait_for(page, held)
    page.get_by_role("textbox", name="Your answer").fill("First answer")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Sent: First answer")).to_be_visible()
    page.get_by_role("textbox", name="Your answer").fill("Second answer")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Sent: Second answer")).to_be_visible()
    settle(page, held[0])
    assert shown(page) == three[2].pk


def test_a_double_tap_before_the_script_has_come(desk: Desk, member: User, make: Make) -> None:
    request = make(**OPTIONAL)
    page = desk.open(member, "/inbox/")
    sent = note_answers(page)
    held = hold_back(page, "**/js/portal/question*.js")
    page.get_by_role("link", name="Start with the most urgent").tap(no_wait_after=True)
    button = page.get_by_role("button", name="Send answer")
    button.tap(no_wait_after=True, force=True)
    assert sent == []
    wait_for(page, held)
    # without the script the button works a moment later
    button.tap(no_wait_after=True)
    expect(page.get_by_role("heading", name="Answer sent")).to_be_visible()
    assert sent == [request.pk]


@pytest.mark.parametrize("storage", ["none", "full"])
def test_words_stay_where_the_browser_stores_nothing(
    desk: Desk, member: User, make: Make, storage: str
) -> None:
    request = make(**TEXT)
    page = desk.open(member, "/inbox/")
    broken = "window, 'localStorage', { get() { throw new DOMException('denied'); } }"
    if storage == "full":
        broken = "Storage.prototype, 'setItem', { value() { throw new DOMException('full'); } }"
    page.add_init_script(f"Object.defineProperty({broken})")
    page.goto(f"/inbox/{request.pk}/")
    field = page.get_by_role("textbox", name="Your answer")
    field.fill("Half a sentence")
    page.get_by_role("button", name="I’m on it").tap()
    expect(page.get_by_role("button", name="Release")).to_be_visible()
    expect(field).to_have_value("Half a sentence")
