"""A question that is left or shown again while something of it is under way."""

import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from accounts.models import User
from accounts.session_store import SessionStore
from reviews import services
from reviews.models import Request
from tests.browser.test_late_responses import NOT_SENT, settle, shown, skip
from tests.browser.test_late_responses import three as three
from tests.browser.test_portal_life import TEXT, Desk
from tests.browser.test_portal_life import desk as desk
from tests.browser.test_portal_sign_in import stop_polling
from tests.browser.test_typing import OPTIONAL, hold_back, wait_for
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make
from tests.waiting import wait_until


def send_and_hold(page: Page) -> Route:
    """Sends an answer that is under way until its route is continued."""
    held = hold_back(page, "**/answer/*")
    page.get_by_role("textbox", name="Your answer").fill("First answer")
    page.get_by_role("button", name="Send answer").click()
    return wait_for(page, held)


def save_words(page: Page, person: User, request: Request) -> None:
    """As if the person had posted them while signed out."""
    (cookie,) = [each for each in page.context.cookies() if each["name"] == "sessionid"]
    session = SessionStore(cookie["value"])
    session["unsent_answers"] = {request.pk: [str(person.pk), ["Saved words"], "Saved comment"]}
    session.save()


def open_row(page: Page, request: Request) -> None:
    page.locator(f"[data-row='{request.pk}'] a").click()


def test_the_last_click_counts(desk: Desk, member: User, three: list[Request]) -> None:
    page = desk.open(member, f"/inbox/{three[0].pk}/", size="desk")
    stop_polling(page)
    earlier = hold_back(page, f"**/inbox/{three[1].pk}/**")
    page.get_by_role("link", name="Skip", exact=True).click()
    wait_for(page, earlier)
    later = hold_back(page, f"**/inbox/{three[2].pk}/**")
    open_row(page, three[2])
    wait_for(page, later)
    settle(page, earlier[0])
    assert shown(page) == three[0].pk
    settle(page, later[0])
    assert shown(page) == three[2].pk


@pytest.mark.parametrize("size", ["phone", "desk"])
def test_a_double_tap_skips_one(desk: Desk, member: User, three: list[Request], size: str) -> None:
    page = desk.open(member, f"/inbox/{three[0].pk}/", size=size)
    link = page.get_by_role("link", name="Skip", exact=True)
    link.scroll_into_view_if_needed()
    box = link.bounding_box()
    assert box
    opened: list[str] = []
    page.on("request", lambda request: opened.append(request.url))
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for taps in (1, 2):
        page.mouse.down(click_count=taps)
        page.mouse.up(click_count=taps)
        page.wait_for_url(f"**/inbox/{three[1].pk}/**")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    assert [url for url in opened if f"{three[2].pk}/?" in url] == []


@pytest.mark.parametrize("typed", ["Newer comment", ""])
def test_what_was_typed_after_a_sign_in_stays(
    desk: Desk, member: User, make: Make, typed: str
) -> None:
    request = make(**TEXT)
    page = desk.open(member, f"/inbox/{request.pk}/")
    save_words(page, member, request)
    page.reload()
    field = page.get_by_role("textbox", name="Your answer")
    comment = page.get_by_role("textbox", name="Comment")
    expect(field).to_have_value("Saved words")
    expect(comment).to_have_value("Saved comment")
    field.fill("Newer answer")
    comment.fill(typed)
    page.reload()
    expect(field).to_have_value("Newer answer")
    expect(comment).to_have_value(typed)


def test_what_was_saved_is_shown_once_the_question_is_free(
    desk: Desk, member: User, owner: User, make: Make
) -> None:
    request = make(**TEXT)
    services.claim_request(request=request, reviewer_id=owner.pk)
    page = desk.open(member, f"/inbox/{request.pk}/")
    save_words(page, member, request)
    services.release_claim(request=request, reviewer_id=owner.pk)
    expect(page.get_by_role("textbox", name="Your answer")).to_have_value("Saved words")
    expect(page.get_by_role("textbox", name="Comment")).to_have_value("Saved comment")


def test_what_was_taken_back_while_an_answer_was_sent(desk: Desk, member: User, make: Make) -> None:
    config = {**OPTIONAL["response_config"], "max_selections": 1}
    request = make(**{**OPTIONAL, "response_config": config})
    page = desk.open(member, f"/inbox/{request.pk}/", size="desk")
    page.locator("summary", has_text="Add a comment").click()
    comment = page.get_by_role("textbox", name="Comment")
    comment.fill("Both")
    boxes = [page.get_by_role("checkbox", name=each) for each in ("boats", "storm")]
    held = hold_back(page, "**/answer/*")
    for box in boxes:
        box.check()
    page.get_by_role("button", name="Send answer").click()
    wait_for(page, held)
    for box in boxes:
        box.uncheck()
    comment.fill("")
    settle(page, held[0])
    expect(page.locator("[aria-invalid=true]").first).to_be_visible()
    for box in boxes:
        expect(box).not_to_be_checked()
    expect(comment).to_have_value("")


def test_an_answer_arrives_though_its_page_is_left(desk: Desk, member: User, make: Make) -> None:
    """A question with an image has a policy of its own, and so is loaded in full."""
    first = make(priority="critical", **TEXT)
    second = make(priority="high", image_url="https://example.org/a.png", type="image", **TEXT)
    page = desk.open(member, f"/inbox/{first.pk}/")
    stop_polling(page)
    held = send_and_hold(page)
    skip(page, second)
    expect(page.locator("[data-zoom]")).to_have_count(1)
    held.continue_()
    wait_until(lambda: services.read_request(first.pk).status == "completed")


def test_a_claim_that_is_renewed_too_late_is_released(
    desk: Desk, member: User, three: list[Request]
) -> None:
    services.claim_request(request=three[0], reviewer_id=member.pk)
    page = desk.open(member, "/my-work/")
    renewed: list[tuple[Route, APIResponse]] = []
    page.route(
        "**/renew/*",
        lambda route: route.fallback() if renewed else renewed.append((route, route.fetch())),
    )
    page.goto(f"/inbox/{three[0].pk}/")
    while not renewed:
        page.wait_for_timeout(10)
    with page.expect_request_finished(lambda request: "/release/" in request.url):
        skip(page, three[1])
    assert services.read_request(three[0].pk).status == "claimed"  # renewed since it was left
    route, response = renewed[0]
    route.fulfill(response=response)
    wait_until(lambda: services.read_request(three[0].pk).status == "pending")


def test_it_is_said_where_there_is_no_form(
    desk: Desk, member: User, owner: User, three: list[Request]
) -> None:
    page = desk.open(member, f"/inbox/{three[0].pk}/", size="desk")
    stop_polling(page)
    held = send_and_hold(page)
    services.claim_request(request=three[1], reviewer_id=owner.pk)
    open_row(page, three[1])
    expect(page.get_by_text("Owner is on it")).to_be_visible()
    held.abort()
    expect(page.locator("[data-trouble]")).to_have_text(NOT_SENT)
    expect(page.locator("[data-trouble]")).to_be_in_viewport(ratio=1)


def test_it_stays_while_the_question_is_shown_again(
    desk: Desk, member: User, three: list[Request]
) -> None:
    page = desk.open(member, f"/inbox/{three[0].pk}/")
    stop_polling(page)
    held = send_and_hold(page)
    skip(page, three[1])
    held.abort()
    expect(page.get_by_text(NOT_SENT)).to_be_visible()
    page.get_by_role("button", name="I’m on it").click()
    expect(page.get_by_role("button", name="Release")).to_be_visible()
    expect(page.get_by_text(NOT_SENT)).to_be_visible()
    skip(page, three[2])
    expect(page.get_by_text(NOT_SENT)).to_be_hidden()
