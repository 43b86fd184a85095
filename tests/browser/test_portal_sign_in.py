"""Open pages of the portal whose reader signs in again, signs out, or is somebody else by now."""

from django.conf import settings as installed
from playwright.sync_api import BrowserContext, Page, Route, expect
from pytest_django import Settings

from accounts.models import User
from reviews import services
from reviews.models import Request
from tests.browser.contexts import sign_in
from tests.browser.test_portal_claims import seconds_left, take
from tests.browser.test_portal_life import TEXT, Desk, looks_right
from tests.browser.test_portal_life import desk as desk
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make
from tests.waiting import wait_until

SIGNED_OUT = "You signed out or switched accounts in this browser."


def return_to_tab(page: Page) -> None:
    """Which makes the page poll at once."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def sign_in_again(desk: Desk, context: BrowserContext, user: User) -> None:
    """As in another tab: with a new session, and a new secret of the forms."""
    sign_in(context, user, desk.site)
    secret = {"name": installed.CSRF_COOKIE_NAME, "value": "n" * 32, "url": desk.site}
    context.add_cookies([secret])  # type: ignore[list-item]


def sign_out(context: BrowserContext) -> None:
    context.clear_cookies(name=installed.SESSION_COOKIE_NAME)


def test_polling_goes_on_after_a_lost_response(desk: Desk, member: User, make: Make) -> None:
    page = desk.open(member, "/inbox/")
    lost: list[Route] = []

    def lose_the_first(route: Route) -> None:
        lost.append(route)
        if len(lost) == 1:
            route.abort()
        elif len(lost) == 2:
            route.fulfill(status=503, body="busy")
        else:
            route.fallback()

    page.route("**/inbox/", lose_the_first)
    sign_in_again(desk, page.context, member)
    make()
    with page.expect_event("requestfailed"):
        return_to_tab(page)
    with page.expect_response(lambda each: each.status == 503):
        return_to_tab(page)
    expect(page.get_by_role("link", name="1 new")).to_be_visible()
    assert len(lost) == 3


def test_who_signed_out_is_told_so(desk: Desk, member: User, make: Make) -> None:
    request = make()
    for path in ("/inbox/", f"/inbox/{request.pk}/"):
        page = desk.open(member, path)
        expect(page.get_by_text(SIGNED_OUT)).to_be_hidden()
        sign_out(page.context)
        return_to_tab(page)
        expect(page.get_by_role("alert").get_by_text(SIGNED_OUT)).to_be_visible()
        looks_right(page)

        sign_in_again(desk, page.context, member)
        return_to_tab(page)
        expect(page.get_by_text(SIGNED_OUT)).to_be_hidden()
        sign_out(page.context)
        return_to_tab(page)
        expect(page.get_by_text(SIGNED_OUT)).to_be_visible()
        page.get_by_role("link", name="Load the page again").tap()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()
        page.context.close()


def test_a_question_that_is_gone_says_so_after_a_sign_in(
    desk: Desk, member: User, make: Make
) -> None:
    request = make()
    page = desk.open(member, f"/inbox/{request.pk}/")
    sign_in_again(desk, page.context, member)
    Request.objects.filter(pk=request.pk).delete()
    return_to_tab(page)
    expect(page.get_by_role("heading", name="You can’t see this question")).to_be_visible()


def test_a_page_of_trouble_does_not_say_who_is_signed_in(
    desk: Desk, member: User, make: Make
) -> None:
    """Such as one of a proxy that wants fewer calls."""
    page = desk.open(member, "/inbox/")
    page.route("**/inbox/", lambda route: route.fulfill(status=429, body="Too many calls"))
    sign_in_again(desk, page.context, member)
    with page.expect_response(lambda each: each.status == 429):
        return_to_tab(page)
    page.unroute("**/inbox/")
    make()
    expect(page.get_by_text(SIGNED_OUT)).to_be_hidden()
    return_to_tab(page)
    expect(page.get_by_role("link", name="1 new")).to_be_visible()


def stop_polling(page: Page) -> None:
    page.route("**/state/**", lambda route: route.abort())


def test_nothing_is_sent_for_somebody_else(
    desk: Desk, owner: User, member: User, make: Make
) -> None:
    request = make(**TEXT)
    page = desk.open(member, f"/inbox/{request.pk}/")
    stop_polling(page)
    page.get_by_role("textbox", name="Your answer").fill("From the member")
    sign_in_again(desk, page.context, owner)
    for name in ("Send answer", "I’m on it"):
        page.get_by_role("button", name=name).tap()
        expect(page.get_by_text(SIGNED_OUT)).to_be_visible()
    expect(page.get_by_role("textbox", name="Your answer")).to_have_value("From the member")
    assert services.read_request(request.pk).status == "pending"
    sign_in_again(desk, page.context, member)
    page.get_by_role("button", name="Send answer").tap()
    expect(page.get_by_role("heading", name="Answer sent")).to_be_visible()


def test_who_goes_on_while_the_token_is_renewed_has_answered(
    desk: Desk, member: User, make: Make
) -> None:
    request, following = make(priority="critical", **TEXT), make(priority="low")
    path = f"/inbox/{request.pk}/"
    page = desk.open(member, path)
    stop_polling(page)
    page.get_by_role("textbox", name="Your answer").fill("From the member")
    sign_in_again(desk, page.context, member)
    held: list[Route] = []
    page.route(f"**{path}", lambda route: held.append(route))
    page.get_by_role("button", name="Send answer").tap()
    while not held:
        page.wait_for_timeout(10)
    page.get_by_role("link", name="Skip", exact=True).tap()
    page.wait_for_url(f"**/inbox/{following.pk}/**")
    held[0].continue_()
    wait_until(lambda: services.read_request(request.pk).status == "completed")


def test_a_claim_outlives_a_sign_in(
    desk: Desk, member: User, make: Make, settings: Settings
) -> None:
    settings.CLAIM_LEASE_SECONDS = 12  # renewed after 5
    request = make()
    page = desk.open(member, f"/inbox/{request.pk}/")
    take(page)
    stop_polling(page)
    sign_in_again(desk, page.context, member)
    until = services.read_request(request.pk).claim_expires_at
    later = Request.objects.filter(pk=request.pk, claim_expires_at__gt=until)
    wait_until(later.exists, seconds=15)


def test_a_claim_is_given_back_after_a_sign_in(desk: Desk, member: User, make: Make) -> None:
    request = make()
    page = desk.open(member, f"/inbox/{request.pk}/")
    take(page)
    old = page.locator("[data-release] [name=csrfmiddlewaretoken]").input_value()
    sign_in_again(desk, page.context, member)
    field = page.locator("[data-release] [name=csrfmiddlewaretoken]")
    return_to_tab(page)
    expect(field).not_to_have_value(old)
    page.get_by_role("link", name="Back to inbox").tap()
    wait_until(lambda: seconds_left(request) < 6)
