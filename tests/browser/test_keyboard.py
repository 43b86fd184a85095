"""The dashboard by keyboard alone: every control can be reached and used, with visible focus."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from accounts.models import ApiKey, User
from loops.models import Loop
from reviews.models import Request
from tests.browser.contexts import opened
from tests.browser.dashboard import enter
from tests.browser.visitor import Visitor
from tests.conftest import account
from tests.dashboard.scene import draw

MAX_TABS = 120
# Whatever a mouse could use on the page: in sight, and not switched off.
USABLE = """() => {
  const seen = each => each.checkVisibility({visibilityProperty: true}) && !each.disabled
    && !each.closest("[hidden], [inert]");
  const radios = new Set();
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary")]
    .filter(each => seen(each) && each.type !== "hidden" && each.tabIndex >= 0)
    .filter(each => {  // of a group of radio buttons Tab reaches one
      if (each.type !== "radio") return true;
      const first = !radios.has(each.name);
      radios.add(each.name);
      return first;
    });
  return all.length;
}"""
# The control that has the focus, once for each, and whether one can see that it has.
FOCUSED = """() => {
  const each = document.activeElement;
  if (!each || each === document.body) return null;
  const isPart = each === window.reachedLast;  // a date has several
  window.reachedLast = each;
  const again = each.dataset.reached === "yes" && !isPart;
  each.dataset.reached = "yes";
  const rings = [each, each.closest("label"), each.closest(".choice")].filter(Boolean);
  const ringed = rings.some(ring => {
    const style = getComputedStyle(ring);
    return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  });
  const box = (each.closest("label") ?? each).getBoundingClientRect();
  const inSight = box.bottom > 0 && box.top < innerHeight;
  return {html: each.outerHTML.slice(0, 120), again, isVisible: isPart || (ringed && inSight),
          isNew: !isPart && each.matches("a, button, input, select, textarea, summary")};
}"""
PAGES = [
    "/dashboard/",
    "/dashboard/loops/{loop}/",
    "/dashboard/loops/new/",
    "/dashboard/requests/",
    "/dashboard/requests/new/",
    "/dashboard/requests/{pending}/",
    "/dashboard/requests/{completed}/",
    "/dashboard/deliveries/",
    "/dashboard/keys/",
    "/dashboard/keys/new/",
    "/dashboard/webhook-secret/",
    "/dashboard/audit/",
    "/dashboard/account/",
]


@pytest.fixture
def scene(owner: User) -> dict[str, Any]:
    return draw(owner, account("member"))


@pytest.fixture
def desk(chromium: Browser, site: str) -> Iterator[Visitor]:
    with opened(chromium, site, size="desk") as context:
        yield Visitor(context.new_page())


def tab_to(page: Page, target: Locator) -> None:
    """Presses Tab until the control has the focus."""
    expect(target).to_have_count(1)
    handle = target.element_handle()
    for _ in range(MAX_TABS):
        if page.evaluate("each => each === document.activeElement", handle):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never comes to {target}")


def press(visitor: Visitor, target: Locator) -> None:
    """Enter on a control that leads to another page."""
    tab_to(visitor.page, target)
    with visitor.page.expect_navigation(wait_until="load"):
        visitor.page.keyboard.press("Enter")


def type_into(page: Page, label: str, text: str) -> None:
    tab_to(page, page.get_by_label(label, exact=True))
    page.keyboard.type(text)


def button(visitor: Visitor, name: str) -> Locator:
    return visitor.page.get_by_role("button", name=name, exact=True)


def test_tab_reaches_everything_and_shows_where_it_is(
    desk: Visitor, owner: User, scene: dict[str, Any]
) -> None:
    ids = {name: scene[name].pk for name in ("loop", "pending", "completed")}
    for path in PAGES:
        enter(desk, owner, path.format(**ids))
        reached = 0
        for _ in range(MAX_TABS * 2):
            desk.page.keyboard.press("Tab")
            now = desk.page.evaluate(FOCUSED)
            if now is None or now["again"]:
                break
            assert now["isVisible"], f"{path}: {now['html']}"
            reached += now["isNew"]
        assert reached == desk.page.evaluate(USABLE), path


def test_a_loop_a_person_and_a_key(desk: Visitor, owner: User, mailoutbox: list[Any]) -> None:
    enter(desk, owner, "/dashboard/loops/new/")
    page = desk.page
    type_into(page, "Name", "Refund desk")
    tab_to(page, page.locator("[name=icon]:checked"))
    page.keyboard.press("ArrowRight")
    press(desk, button(desk, "Create loop"))
    desk.reads("Loop created.")
    assert Loop.objects.get().icon == "shield-alt"

    type_into(page, "Email address", "ada@example.org")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    desk.reads("Invitation sent to ada@example.org")
    tab_to(page, page.get_by_role("button", name="Withdraw ada@example.org"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Withdraw ada@example.org")).to_be_focused()

    press(desk, page.get_by_role("link", name="API keys").locator("visible=true"))
    press(desk, page.get_by_role("link", name="New key").first)
    type_into(page, "Name", "Refund bot")
    tab_to(page, page.get_by_label("Read loops and members"))
    page.keyboard.press("Space")
    press(desk, button(desk, "Create key"))
    press(desk, button(desk, "I stored it"))
    assert "loops:read" not in ApiKey.objects.get().permissions


def test_asking_and_taking_it_back(desk: Visitor, owner: User, scene: dict[str, Any]) -> None:
    enter(desk, owner, "/dashboard/requests/new/")
    page = desk.page
    type_into(page, "Question", "May it go?")
    tab_to(page, page.locator("[name=response_type]:checked"))
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Rating", exact=True)).to_be_checked()
    type_into(page, "Default response", "3")
    press(desk, button(desk, "Send request"))
    desk.reads("Asked")
    tab_to(page, page.get_by_role("button", name="Cancel request"))
    page.keyboard.press("Enter")
    press(desk, button(desk, "Yes, cancel it"))
    desk.reads("Request cancelled.")
    assert Request.objects.latest("created_at").status == "cancelled"
