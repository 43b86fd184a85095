"""How often open pages poll, and what they do when the token, the lease or the reader is gone."""

import re

from playwright.sync_api import APIResponse, Page, Route, expect

from accounts.models import User
from reviews import services
from tests.browser.contexts import sign_in
from tests.browser.test_portal_life import TEXT, Desk, looks_right
from tests.browser.test_portal_life import desk as desk
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make, let_lease_run_out
from tests.waiting import stretched

DRAFTS = "Object.keys(localStorage).filter((name) => name.startsWith('draft:')).length"


class Polls:
    """What a page asks the light endpoint, in the time of its own clock."""

    def __init__(self, page: Page) -> None:
        self.page, self.asked, self.answered = page, 0, 0
        page.on("request", lambda request: self.note(request.url, "asked"))
        page.on("requestfinished", lambda request: self.note(request.url, "answered"))

    def note(self, url: str, kind: str) -> None:
        if "/state/" in url:
            setattr(self, kind, getattr(self, kind) + 1)

    def during(self, seconds: int, step: int = 1) -> int:
        before = self.asked
        for _ in range(seconds // step):
            self.page.clock.run_for(step * 1_000)
            self.page.evaluate("0")  # the event of a request has come by now
            while self.answered < self.asked:
                self.page.wait_for_timeout(10)
        return self.asked - before


def test_every_3_seconds_then_once_a_minute(desk: Desk, member: User) -> None:
    page = desk.open(member, "/my-work/")
    page.clock.install()
    page.goto("/inbox/")
    page.clock.pause_at(page.evaluate("Date.now() / 1000 + 1"))
    polls = Polls(page)
    assert 8 <= polls.during(30) <= 10
    polls.during(90, step=10)
    assert polls.during(180, step=10) == 3
    page.keyboard.press("Shift")
    assert 8 <= polls.during(30) <= 11


def test_an_inbox_outlives_its_sign_in(desk: Desk, member: User, make: Make) -> None:
    page = desk.open(member, "/inbox/")
    sign_in(page.context, member, desk.site)
    make()
    expect(page.get_by_role("link", name="1 new")).to_be_visible(timeout=stretched(15) * 1_000)


def test_a_lease_that_runs_out_takes_no_word_and_no_focus(
    desk: Desk, member: User, make: Make
) -> None:
    request = make(**TEXT)
    page = desk.open(member, f"/inbox/{request.pk}/")
    page.get_by_role("button", name="I’m on it").tap()
    expect(page.get_by_role("main").get_by_text("You’re on it")).to_be_visible()
    for place in ("[data-held-left]", "[data-countdown-text]"):  # no seconds that tick
        expect(page.locator(place)).to_have_text(re.compile(r"^\d+ min( left)?$"))
    field = page.get_by_role("textbox", name="Your answer")
    field.fill("Half a ")
    let_lease_run_out(request)
    expect(page.get_by_role("button", name="I’m on it")).to_be_visible()
    page.keyboard.type("thought")
    expect(field).to_have_value("Half a thought")


def test_two_taps_send_one_answer(desk: Desk, member: User, make: Make) -> None:
    first, second = make(priority="critical"), make(priority="low")
    page = desk.open(member, f"/inbox/{first.pk}/")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.post_data else None)
    page.get_by_text("yes", exact=True).first.tap()
    page.get_by_role("button", name="Send answer").dblclick()
    expect(page.get_by_text("Sent: yes")).to_be_visible()
    assert [url.split("?")[0] for url in sent] == [f"{desk.site}/inbox/{first.pk}/answer/"]
    assert services.read_request(second.pk).status == "pending"


def test_a_late_refresh_leaves_the_next_question(desk: Desk, member: User, make: Make) -> None:
    first = make(priority="critical", request_text="The first question")
    make(priority="low", request_text="The second question")
    page = desk.open(member, f"/inbox/{first.pk}/")
    refreshes: list[tuple[Route, APIResponse]] = []

    def hold_back(route: Route) -> None:
        refreshes.append((route, route.fetch()))

    page.route(f"**/inbox/{first.pk}/", hold_back)
    services.claim_request(request=first, reviewer_id=member.pk)  # the next poll sees it
    while not refreshes:
        page.wait_for_timeout(10)
    page.get_by_text("yes", exact=True).first.tap()
    page.get_by_role("button", name="Send answer").tap()
    expect(page.get_by_role("main").get_by_text("The second question")).to_be_visible()
    frame = page.evaluate_handle("document.querySelector('.frame')")
    route, response = refreshes[0]
    with page.expect_event("requestfinished", lambda request: request == route.request):
        route.fulfill(response=response)
    page.evaluate("() => fetch('/offline/').then((response) => response.text())")
    assert frame.evaluate("(each) => each.isConnected")  # a replaced page would repair itself later
    assert page.get_by_role("main").get_by_text("The second question").is_visible()


def test_who_signs_out_leaves_no_draft(desk: Desk, member: User, make: Make) -> None:
    request = make(**TEXT)
    page = desk.open(member, f"/inbox/{request.pk}/")
    page.get_by_role("textbox", name="Your answer").fill("For nobody else")
    assert page.evaluate(DRAFTS) == 1
    page.goto("/accounts/logout/")
    page.get_by_role("main").get_by_role("button", name="Sign out").tap()
    page.wait_for_url(f"{desk.site}/")
    assert page.evaluate(DRAFTS) == 0


def test_on_the_narrowest_screen(desk: Desk, member: User, make: Make) -> None:
    """320 px, which is also a desk at 400 %."""
    request = make(image_url="https://images.example/a.png", context={"order": {"number": 1}})
    for path in ("/inbox/", f"/inbox/{request.pk}/", "/my-work/", "/loops/"):
        for height in (568, 256):
            page = desk.open(member, path, viewport={"width": 320, "height": height})
            looks_right(page)
            page.context.close()
