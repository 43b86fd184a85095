"""A reviewer's whole life: with one thumb on a phone, with the keyboard alone at a desk, and when
things go wrong."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest
from django.db import connection
from playwright.sync_api import Browser, Page, expect
from pytest_django import Settings

from accounts.models import User
from loops.models import Loop
from loops.services import join_loop
from reviews import services
from reviews.models import Request
from tests.browser.contexts import opened
from tests.browser.looking import accessibility_faults
from tests.browser.visitor import TOO_WIDE
from tests.conftest import PASSWORD
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make, make_overdue
from tests.waiting import wait_until

TEXT: dict[str, Any] = {
    "response_type": "text",
    "response_config": {"min_length": 2},
    "default_response": "x",
}


class Desk:
    """Browsers of people who are signed in."""

    def __init__(self, chromium: Browser, site: str) -> None:
        self.chromium, self.site = chromium, site
        self.contexts = ExitStack()

    def open(self, user: User | None, path: str, *, size: str = "phone", **options: Any) -> Page:
        options = {"size": size, "has_touch": size == "phone", **options}
        context = self.contexts.enter_context(opened(self.chromium, self.site, user, **options))
        page = context.new_page()
        page.goto(path)
        return page


@pytest.fixture
def desk(chromium: Browser, site: str) -> Iterator[Desk]:
    made = Desk(chromium, site)
    with made.contexts:
        yield made


def looks_right(page: Page) -> None:
    assert page.evaluate(TOO_WIDE) == 0
    assert accessibility_faults(page) == []


def test_with_one_thumb(desk: Desk, loop: Loop, outsider: User, make: Make) -> None:
    first, second = make(priority="critical"), make(priority="low")
    page = desk.open(outsider, f"/join/{loop.invite_code}")
    page.get_by_role("button", name="Join Refund desk").tap()
    expect(page.get_by_text("You’ve joined Refund desk.")).to_be_visible()
    page.get_by_role("link", name="Start with the most urgent").tap()
    expect(page).to_have_url(f"{desk.site}/inbox/{first.pk}/")
    looks_right(page)
    page.evaluate("window.isTheSame = true")
    page.get_by_text("no", exact=True).first.tap()
    page.get_by_text("yes", exact=True).first.tap()
    page.get_by_role("button", name="Send answer").tap()
    expect(page.get_by_text("Sent: yes")).to_be_visible()
    expect(page).to_have_url(f"{desk.site}/inbox/{second.pk}/?n=1&sent={first.pk}")
    assert page.evaluate("window.isTheSame")
    looks_right(page)
    page.get_by_text("no", exact=True).first.tap()
    page.get_by_role("button", name="Send answer").tap()
    expect(page.get_by_role("heading", name="2 answers sent")).to_be_visible()
    looks_right(page)
    assert [services.read_request(each.pk).response_data for each in (first, second)] == [
        "yes",
        "no",
    ]


def test_with_the_keyboard_alone(desk: Desk, loop: Loop, outsider: User, make: Make) -> None:
    first = make(priority="critical")
    second = make(**TEXT)
    third = make(priority="low")
    page = desk.open(outsider, f"/join/{loop.invite_code}", size="desk")
    keys = page.keyboard
    page.get_by_role("button", name="Join").focus()
    keys.press("Enter")
    expect(page.get_by_text("You’ve joined Refund desk.")).to_be_visible()
    expect(page.locator("html[data-keys-on]")).to_be_attached()
    keys.press("j")
    keys.press("Enter")
    expect(page).to_have_url(f"{desk.site}/inbox/{first.pk}/")
    expect(page.locator("html[data-keys-on]")).to_be_attached()
    keys.press("j")
    expect(page).to_have_url(f"{desk.site}/inbox/{second.pk}/")
    keys.press("k")
    expect(page).to_have_url(f"{desk.site}/inbox/{first.pk}/")
    keys.press("?")
    expect(page.get_by_role("heading", name="Keyboard shortcuts")).to_be_visible()
    looks_right(page)
    keys.press("Escape")
    keys.press("2")
    keys.press("1")
    expect(page.get_by_label("yes")).to_be_checked()
    keys.press("Enter")
    expect(page.get_by_text("Sent: yes")).to_be_visible()
    keys.press("Enter")  # nothing is typed yet: to the field
    expect(page.get_by_role("textbox", name="Your answer")).to_be_focused()
    keys.type("Just 1 sentence?")
    keys.press("Control+Enter")
    expect(page.get_by_text("Sent: Just 1 sentence?")).to_be_visible()
    keys.press("s")
    expect(page).to_have_url(f"{desk.site}/inbox/{third.pk}/?n=2&sent={second.pk}")
    keys.press("2")
    keys.press("Enter")
    expect(page.get_by_role("heading", name="3 answers sent")).to_be_visible()


def test_the_keys_can_be_switched_off(desk: Desk, member: User, make: Make) -> None:
    request = make()
    page = desk.open(member, f"/inbox/{request.pk}/", size="desk")
    page.get_by_role("button", name="Shortcuts").click()
    page.get_by_label("Use keyboard shortcuts").uncheck()
    page.get_by_role("button", name="Close").click()
    for _ in range(2):
        page.keyboard.press("1")
        expect(page.get_by_label("yes")).not_to_be_checked()
        page.reload()


def test_two_who_want_the_same(desk: Desk, owner: User, member: User, make: Make) -> None:
    request, following = make(priority="critical", **TEXT), make(priority="low")
    path = f"/inbox/{request.pk}/"
    slow, quick = desk.open(owner, path), desk.open(member, path)
    slow.get_by_role("textbox", name="Your answer").fill("My draft")
    quick.get_by_role("button", name="I’m on it").tap()
    expect(quick.locator("[data-held-live]")).to_contain_text("for 9 min")
    expect(slow.get_by_role("main").get_by_text("Member is on it")).to_be_visible()
    expect(slow.get_by_text("My draft")).to_be_visible()
    looks_right(slow)
    quick.get_by_role("button", name="Release").tap()
    expect(slow.get_by_role("textbox", name="Your answer")).to_have_value("My draft")
    quick.get_by_role("button", name="I’m on it").tap()
    expect(slow.get_by_role("main").get_by_text("Member is on it")).to_be_visible()
    quick.get_by_role("textbox", name="Your answer").fill("First")
    quick.get_by_role("button", name="Send answer").tap()
    expect(slow.get_by_role("main").get_by_text("Member answered this question")).to_be_visible()
    expect(slow.get_by_role("heading", name="Your unsent answer")).to_be_visible()
    expect(slow.get_by_text("My draft")).to_be_visible()
    slow.get_by_role("link", name="Next question").tap()
    expect(slow).to_have_url(f"{desk.site}/inbox/{following.pk}/?skipped={request.pk}")


def test_leaving_the_page_gives_the_claim_back(desk: Desk, member: User, make: Make) -> None:
    request = make()
    page = desk.open(member, f"/inbox/{request.pk}/")
    page.get_by_role("button", name="I’m on it").tap()
    expect(page.get_by_role("main").get_by_text("You’re on it")).to_be_visible()
    page.get_by_role("link", name="Back to inbox").tap()
    page.wait_for_url("**/inbox/")
    wait_until(lambda: services.read_request(request.pk).status == "pending")


def test_loading_the_page_anew_lets_nobody_in_between(
    desk: Desk, owner: User, member: User, make: Make
) -> None:
    request = make()
    page = desk.open(member, f"/inbox/{request.pk}/")
    page.get_by_role("button", name="I’m on it").tap()
    expect(page.get_by_role("main").get_by_text("You’re on it")).to_be_visible()
    for _ in range(2):
        with page.expect_response("**/renew/") as renewed:
            page.reload()
        assert renewed.value.status == 204
        with pytest.raises(services.TransitionLost):
            services.claim_request(request=request, reviewer_id=owner.pk)
        expect(page.locator("[data-held-live]")).to_contain_text("for 9 min")


def test_while_it_is_held_the_lease_is_renewed(
    desk: Desk, member: User, make: Make, settings: Settings
) -> None:
    settings.CLAIM_LEASE_SECONDS = 12  # renewed after 5
    request = make()
    page = desk.open(member, f"/inbox/{request.pk}/")
    page.get_by_role("button", name="I’m on it").tap()
    expect(page.get_by_role("main").get_by_text("You’re on it")).to_be_visible()
    until = services.read_request(request.pk).claim_expires_at
    later = Request.objects.filter(pk=request.pk, claim_expires_at__gt=until)
    wait_until(later.exists, seconds=15)


def test_the_time_runs_out_while_somebody_types(desk: Desk, member: User, make: Make) -> None:
    request = make(**TEXT)
    page = desk.open(member, f"/inbox/{request.pk}/")
    page.get_by_role("textbox", name="Your answer").fill("Nearly there")
    make_overdue(request)
    expect(page.get_by_role("main").get_by_text("Time’s up")).to_be_visible()
    expect(page.get_by_role("heading", name="Your unsent answer")).to_be_visible()
    expect(page.get_by_text("Nearly there")).to_be_visible()
    looks_right(page)


def start_of_next(page: Page, path: str) -> float:
    """When the browser sent its next request for the path, in its own milliseconds."""
    with page.expect_response(f"**{path}") as next_one:
        pass
    return float(next_one.value.request.timing["startTime"])


def test_a_question_that_is_locked_over_its_deadline_is_read_again_with_a_pause(
    desk: Desk, member: User, make: Make
) -> None:
    request = make()
    make_overdue(request)
    path = f"/inbox/{request.pk}/"
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("SELECT FROM reviews_request WHERE id = %s FOR UPDATE", [request.pk])
        page = desk.open(member, path)
        begun = [start_of_next(page, path) for _ in range(2)]
        assert begun[1] - begun[0] > 2_000
    expect(page.get_by_role("main").get_by_text("Time’s up")).to_be_visible()


def test_what_was_typed_outlives_the_page(desk: Desk, member: User, make: Make) -> None:
    request = make(**TEXT)
    page = desk.open(member, f"/inbox/{request.pk}/")
    field = page.get_by_role("textbox", name="Your answer")
    field.fill("Half a thought")
    expect(page.get_by_text("14 of 10,000")).to_be_visible()
    page.reload()
    expect(field).to_have_value("Half a thought")
    page.get_by_role("button", name="Send answer").tap()
    expect(page.get_by_role("heading", name="Answer sent")).to_be_visible()
    assert page.evaluate("Object.keys(localStorage).filter(k => k.startsWith('draft'))") == []


def test_without_a_connection_nothing_is_lost(desk: Desk, member: User, make: Make) -> None:
    request = make()
    page = desk.open(member, f"/inbox/{request.pk}/")
    page.get_by_text("yes", exact=True).first.tap()
    page.context.set_offline(True)
    page.get_by_role("button", name="Send answer").tap()
    expect(page.get_by_text("No connection. Your answer may not have been sent.")).to_be_visible()
    page.context.set_offline(False)
    page.get_by_role("button", name="Send answer").tap()
    expect(page.get_by_role("heading", name="Answer sent")).to_be_visible()
    assert services.read_request(request.pk).response_data == "yes"


def test_sent_again_after_an_answer_that_got_lost(desk: Desk, member: User, make: Make) -> None:
    request = make()
    page = desk.open(member, f"/inbox/{request.pk}/")
    page.get_by_text("yes", exact=True).first.tap()
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    page.get_by_role("button", name="Send answer").tap()
    expect(page.get_by_role("heading", name="Answer sent")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_the_session_ends_while_somebody_types(
    desk: Desk, member: User, make: Make, scripts: bool
) -> None:
    request = make(**TEXT)
    page = desk.open(member, f"/inbox/{request.pk}/", java_script_enabled=scripts)
    page.get_by_role("textbox", name="Your answer").fill("Long thought about")
    cookies = [each for each in page.context.cookies() if each["name"] != "sessionid"]
    page.context.clear_cookies()
    page.context.add_cookies(cookies)  # type: ignore[arg-type]
    page.get_by_role("button", name="Send answer").tap()
    page.get_by_label("Email").fill(member.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").tap()
    expect(page.get_by_role("textbox", name="Your answer")).to_have_value("Long thought about")
    expect(page.get_by_text("It hasn’t been sent yet.")).to_be_visible()
    assert services.read_request(request.pk).status == "pending"
    page.get_by_role("button", name="Send answer").tap()
    expect(page.get_by_role("heading", name="Answer sent")).to_be_visible()


def test_a_token_that_has_run_out_is_no_obstacle(desk: Desk, member: User, make: Make) -> None:
    request = make()
    page = desk.open(member, f"/inbox/{request.pk}/")
    page.get_by_text("yes", exact=True).first.tap()
    page.evaluate("document.querySelector('#answer-form [name=csrfmiddlewaretoken]').value = 'x'")
    page.get_by_role("button", name="Send answer").tap()
    expect(page.get_by_role("heading", name="Answer sent")).to_be_visible()


def test_the_membership_ends_while_somebody_types(
    desk: Desk, member: User, loop: Loop, make: Make
) -> None:
    request = make(**TEXT)
    page = desk.open(member, f"/inbox/{request.pk}/")
    page.get_by_role("textbox", name="Your answer").fill("Too late")
    services.remove_member(loop_id=loop.pk, account_id=loop.creator_id, member_id=member.pk)
    expect(page.get_by_role("heading", name="You can’t see this question")).to_be_visible()
    expect(page.get_by_text("Too late")).to_be_visible()
    looks_right(page)


def test_the_inbox_moves_nothing_under_the_finger(
    desk: Desk, owner: User, member: User, make: Make
) -> None:
    first, second = make(priority="high"), make(priority="low")
    page = desk.open(member, "/inbox/")
    top = page.locator("[data-row]").first.bounding_box()
    newest = make(priority="critical")
    services.claim_request(request=second, reviewer_id=owner.pk)
    expect(page.get_by_role("link", name="1 new")).to_be_visible()
    expect(page.get_by_role("main").get_by_text("Owner is on it")).to_be_visible()
    assert page.locator("[data-row]").count() == 2
    looks_right(page)
    moved = page.locator("[data-row]").first.bounding_box()
    assert (top and top["y"]) == (moved and moved["y"])
    services.answer_request(request=first, reviewer_id=owner.pk, answer="yes")
    expect(page.get_by_text("Already handled")).to_be_visible()
    page.get_by_role("link", name="1 new").tap()
    expect(page.locator("[data-row]").first).to_have_attribute("data-row", newest.pk)


def test_a_hidden_inbox_asks_nothing(desk: Desk, member: User) -> None:
    page = desk.open(member, "/inbox/")
    asked: list[str] = []
    page.on(
        "request", lambda request: asked.append(request.url) if "state" in request.url else None
    )
    page.evaluate(
        "Object.defineProperty(document, 'hidden', {get: () => window.isAway ?? true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    asked.clear()  # what was sent before
    page.wait_for_timeout(4_000)
    assert not asked
    with page.expect_request("**/inbox/state/**"):
        page.evaluate(
            "window.isAway = false; document.dispatchEvent(new Event('visibilitychange'))"
        )


def test_leaving_a_loop(desk: Desk, member: User, loop: Loop) -> None:
    page = desk.open(member, "/loops/")
    page.get_by_role("button", name="Leave", exact=True).tap()
    looks_right(page)
    page.get_by_role("button", name="Leave loop").tap()
    expect(page.get_by_text("You have left Refund desk.")).to_be_visible()
    join_loop(user=member, code=loop.invite_code)


def test_the_slider_and_the_number_agree(desk: Desk, member: User, make: Make) -> None:
    config = {"scale_max": 100, "scale_min": -100, "scale_step": 5}
    request = make(response_type="rating", response_config=config, default_response=0)
    page = desk.open(member, f"/inbox/{request.pk}/")
    page.get_by_label("Your answer on a slider").fill("45")
    field = page.get_by_role("textbox", name="Your answer")
    expect(field).to_have_value("45")
    page.get_by_role("button", name="Change the sign").tap()
    slider = page.get_by_label("Your answer on a slider")
    expect(slider).to_have_value("-45")
    field.fill("\u221235")  # the true minus sign
    expect(slider).to_have_value("-35")
    page.get_by_role("button", name="Change the sign").tap()
    expect(field).to_have_value("35")
    field.fill("－４５")
    expect(slider).to_have_value("-45")
    looks_right(page)
    page.get_by_role("button", name="Send answer").tap()
    expect(page.get_by_role("heading", name="Answer sent")).to_be_visible()
    assert services.read_request(request.pk).response_data == -45


def test_a_hundred_options_stay_within_the_page(desk: Desk, member: User, make: Make) -> None:
    options = [f"Option {n} with a name of some length" for n in range(100)]
    config = {"options": options, "max_selections": 2}
    request = make(
        response_type="multi_select", response_config=config, default_response=options[0]
    )
    page = desk.open(member, f"/inbox/{request.pk}/")
    for number in (0, 50, 99):
        page.locator(".choice").nth(number).tap()
    expect(page.get_by_text("3 chosen, 1 too many")).to_be_visible()
    page.locator(".choice").first.tap()
    expect(page.get_by_text("2 chosen")).to_be_visible()
    expect(page.get_by_role("button", name="Send answer")).to_be_in_viewport()
    looks_right(page)
