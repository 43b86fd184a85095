"""A claim on its way from page to page, whatever reaches the service first."""

from collections.abc import Callable
from datetime import timedelta

from playwright.sync_api import Page, expect

from accounts.models import User
from reviews import services
from reviews.models import Request
from tests.browser.test_portal_life import Desk
from tests.browser.test_portal_life import desk as desk
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make
from tests.waiting import wait_until

# What the page sends as it is left waits until somebody posts it.
KEEP_BEACON = """navigator.sendBeacon = (url, body) =>
  sessionStorage.setItem("beacon", JSON.stringify([url, String(new URLSearchParams(body))]))"""
POST_BEACON = """async () => {
  const [url, body] = JSON.parse(sessionStorage.getItem("beacon"));
  return (await fetch(url, { method: "POST", body: new URLSearchParams(body) })).status;
}"""


def seconds_left(request: Request) -> float:
    seen = services.read_request(request.pk)
    left = (seen.claim_expires_at or seen.now) - seen.now
    return left / timedelta(seconds=1)


def take(page: Page) -> None:
    page.get_by_role("button", name="I’m on it").tap()
    expect(page.get_by_role("main").get_by_text("You’re on it")).to_be_visible()


def test_the_page_before_lets_go_too_late(desk: Desk, member: User, make: Make) -> None:
    request = make()
    page = desk.open(member, f"/inbox/{request.pk}/")
    take(page)
    page.evaluate(KEEP_BEACON)
    with page.expect_response("**/renew/"):
        page.reload()
    assert page.evaluate(POST_BEACON) == 204
    assert seconds_left(request) > 60


def test_a_renewed_lease_is_given_back_too(desk: Desk, member: User, make: Make) -> None:
    request = make()
    page = desk.open(member, f"/inbox/{request.pk}/")
    take(page)
    until = services.read_request(request.pk).claim_expires_at
    assert until is not None
    page.reload()
    expect(page.locator("[data-held]")).not_to_have_attribute("data-until", until.isoformat())
    page.get_by_role("link", name="Back to inbox").tap()
    page.wait_for_url("**/inbox/")
    wait_until(lambda: seconds_left(request) < 6)


def test_another_tab_keeps_what_one_lets_go(desk: Desk, member: User, make: Make) -> None:
    request = make()
    path = f"/inbox/{request.pk}/"
    staying = desk.open(member, path)
    take(staying)
    leaving = staying.context.new_page()
    ways: list[Callable[[], object]] = [lambda: leaving.goto("/my-work/"), leaving.close]
    for leave in ways:
        with leaving.expect_response("**/renew/"):
            leaving.goto(path)
        expect(leaving.locator("[data-held-live]")).to_contain_text("for 9 min")
        staying.evaluate("Object.defineProperty(document, 'hidden', { value: true })")
        with staying.expect_response("**/renew/") as renewed:
            leave()
        assert renewed.value.status == 204
        until = renewed.value.headers["x-lease"]
        expect(staying.locator("[data-held]")).to_have_attribute("data-until", until)
        held = services.read_request(request.pk).claim_expires_at
        assert held is not None
        assert held.isoformat() == until


def test_a_tab_with_another_question_keeps_still(desk: Desk, member: User, make: Make) -> None:
    left, held = make(), make()
    staying = desk.open(member, f"/inbox/{held.pk}/")
    take(staying)
    renewed: list[str] = []
    staying.on("request", lambda sent: renewed.append(sent.url) if "/renew/" in sent.url else None)
    leaving = staying.context.new_page()
    leaving.goto(f"/inbox/{left.pk}/")
    take(leaving)
    leaving.goto("/my-work/")
    wait_until(lambda: seconds_left(left) < 6)
    with staying.expect_response("**/renew/"):
        leaving.evaluate(f"new BroadcastChannel('claims').postMessage('{held.pk}')")
    assert len(renewed) == 1


def test_a_browser_whose_tabs_cannot_speak(desk: Desk, member: User, make: Make) -> None:
    request = make()
    page = desk.open(member, "/inbox/")
    page.add_init_script("delete window.BroadcastChannel")
    page.goto(f"/inbox/{request.pk}/")
    take(page)
    page.get_by_role("link", name="Back to inbox").tap()
    wait_until(lambda: seconds_left(request) < 6)
