"""The zone in which a reviewer answers: it leaves room for the question, and waits for its end."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from accounts.models import User
from reviews.models import Request
from tests.browser.contexts import opened
from tests.browser.looking import DRAWN
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make
from tests.waiting import wait_until

LONG = "\n\n".join(f"Paragraph {number}. {'Read all of this. ' * 12}" for number in range(12))
FEW = {"options": ["Refund in full", "Refund half", "Escalate to a person"]}
MANY = {"options": [f"{number}. {'A rather long label ' * 2}"[:40] for number in range(4)]}
SCREENS = [(320, 568), (390, 844), (844, 390), (1280, 800), (1920, 1080)]
IS_HIT = """each => {
  const box = each.getBoundingClientRect();
  return each.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
}"""
# Without scripts, the button takes no tap before a moment has gone by.
IS_OPEN = 'getComputedStyle(document.querySelector("[data-send]")).pointerEvents === "auto"'
LARGER = "percent => { document.documentElement.style.fontSize = `${percent}%` }"
# The height that the zone takes from the question, and whether its last button can be reached.
ZONE = """() => {
  const zone = document.querySelector(".thumb-zone");
  const takes = getComputedStyle(zone).position === "sticky" ? zone.offsetHeight / innerHeight : 0;
  const isReached = [...zone.querySelectorAll(".choice, [data-send]")].every(each => {
    each.scrollIntoView({block: "nearest", behavior: "instant"});
    const box = each.getBoundingClientRect();
    return each.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
  });
  scrollTo(0, 0);
  return [Math.round(takes * 1000) / 10, isReached];
}"""


@pytest.fixture(params=[True, False], ids=["scripts", "no-scripts"])
def phone(
    request: pytest.FixtureRequest,
    chromium: Browser,
    site: str,
    transactional_db: None,
    member: User,
) -> Iterator[Page]:
    options: dict[str, Any] = {"java_script_enabled": request.param, "has_touch": True}
    with opened(chromium, site, member, **options) as context:
        yield context.new_page()


def test_it_takes_two_fifths_of_the_screen_at_most(phone: Page, make: Make) -> None:
    has_scripts = phone.evaluate("matchMedia('(scripting: enabled)').matches")
    for config in (FEW, MANY):
        request = make(response_config=config, default_response=config["options"][0])
        phone.goto(f"/inbox/{request.pk}/")
        wait_until(lambda: phone.evaluate(IS_OPEN))
        for width, height in SCREENS:
            phone.set_viewport_size({"width": width, "height": height})
            for percent in (100, 200):
                phone.evaluate(LARGER, percent)
                if has_scripts:
                    phone.evaluate(DRAWN)
                share, is_reached = phone.evaluate(ZONE)
                assert (share <= 40, is_reached) == (True, True), (width, height, percent, share)


def test_a_short_question_never_waits(phone: Page, make: Make) -> None:
    phone.goto(f"/inbox/{make().pk}/")
    phone.get_by_text("yes", exact=True).first.tap()
    expect(phone.locator(".thumb-zone.is-waiting")).to_have_count(0)
    expect(phone.locator("[data-read-on]")).to_be_hidden()


def waiting(page: Page, request: Request) -> Page:
    page.goto("about:blank")
    page.goto(f"/inbox/{request.pk}/")
    expect(page.locator(".thumb-zone.is-waiting")).to_have_count(1)
    expect(page.get_by_text("Read to the end to answer")).to_be_visible()
    return page


@pytest.mark.parametrize("phone", [True], indirect=True, ids=["scripts"])
def test_a_long_question_is_read_to_its_end_first(phone: Page, make: Make) -> None:
    request = make(request_text=LONG)
    waiting(phone, request)
    send = phone.get_by_role("button", name="Send answer")  # for screen readers it is there
    expect(send).to_have_count(1)
    assert not send.evaluate(IS_HIT)
    for _ in range(20):
        if phone.locator(".thumb-zone.is-waiting").count() == 0:
            break
        phone.get_by_text("Read to the end to answer").tap()
        phone.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    expect(phone.locator("[data-question-end]")).to_be_in_viewport()
    phone.get_by_text("yes", exact=True).first.tap()
    send.tap()
    expect(phone.get_by_role("heading", name="Answer sent")).to_be_visible()


@pytest.mark.parametrize("phone", [True], indirect=True, ids=["scripts"])
def test_who_jumps_past_the_end_is_not_kept_waiting(phone: Page, make: Make) -> None:
    config = {"options": [f"Option {number}" for number in range(20)]}
    waiting(phone, make(request_text=LONG, response_config=config, default_response="Option 0"))
    phone.evaluate(DRAWN)
    phone.evaluate("scrollTo(0, document.body.scrollHeight)")
    expect(phone.locator(".thumb-zone.is-waiting")).to_have_count(0)
    end = phone.locator("[data-question-end]")
    assert end.evaluate("each => each.getBoundingClientRect().bottom") < 0


@pytest.mark.parametrize("phone", [True], indirect=True, ids=["scripts"])
def test_neither_keyboards_nor_screen_readers_wait(phone: Page, make: Make) -> None:
    request = make(request_text=LONG)
    zone = phone.locator(".thumb-zone.is-waiting")
    waiting(phone, request).keyboard.press("Shift")
    expect(zone).to_have_count(0)
    waiting(phone, request).get_by_role("radio", name="yes").focus()
    expect(zone).to_have_count(0)
    waiting(phone, request).get_by_role("radio", name="yes").evaluate("each => each.click()")
    expect(zone).to_have_count(0)
    expect(phone.get_by_role("radio", name="yes")).to_be_checked()


@pytest.mark.parametrize("phone", [False], indirect=True, ids=["no-scripts"])
def test_without_scripts_nothing_waits(phone: Page, make: Make) -> None:
    phone.goto(f"/inbox/{make(request_text=LONG).pk}/")
    phone.get_by_text("yes", exact=True).first.tap()
    phone.get_by_role("button", name="Send answer").tap()
    expect(phone.get_by_role("heading", name="Answer sent")).to_be_visible()
