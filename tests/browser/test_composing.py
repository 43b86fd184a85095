"""Keys of an input method that composes text, such as Japanese, do nothing but compose."""

from typing import Any

from playwright.sync_api import CDPSession, Page, expect

from accounts.models import User
from tests.browser.test_portal_life import TEXT, Desk
from tests.browser.test_portal_life import desk as desk
from tests.browser.test_typing import note_answers
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make

CONTROL = 2  # of DevTools' modifiers
COMPOSING = 229  # the key code of every key that an input method handles


def press(keys: CDPSession, key: str, **more: Any) -> None:
    """Presses a key as an input method reports it."""
    event = {"key": key, "code": key, **more}
    keys.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **event})
    keys.send("Input.dispatchKeyEvent", {"type": "keyUp", **event})


def connect(page: Page) -> CDPSession:
    return page.context.new_cdp_session(page)


def test_control_enter_ends_a_composition_and_sends_nothing(
    desk: Desk, member: User, make: Make
) -> None:
    request = make(**TEXT)
    page = desk.open(member, f"/inbox/{request.pk}/", size="desk")
    sent, keys = note_answers(page), connect(page)
    field = page.get_by_role("textbox", name="Your answer")
    field.focus()
    composed = {"text": "かんじ", "selectionStart": 3, "selectionEnd": 3}
    keys.send("Input.imeSetComposition", composed)
    press(keys, "Enter", modifiers=CONTROL, windowsVirtualKeyCode=13)
    press(keys, "Enter", modifiers=CONTROL, windowsVirtualKeyCode=COMPOSING)
    keys.send("Input.insertText", {"text": "漢字"})
    press(keys, "Enter", modifiers=CONTROL, windowsVirtualKeyCode=COMPOSING)  # as Safari does
    expect(field).to_have_value("漢字")
    assert sent == []
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="Answer sent")).to_be_visible()
    assert sent == [request.pk]


def test_composed_letters_are_no_shortcuts(desk: Desk, member: User, make: Make) -> None:
    request, _ = make(priority="critical"), make(priority="low")
    page = desk.open(member, f"/inbox/{request.pk}/", size="desk")
    keys = connect(page)
    for key in ("1", "?", "j", "s", "Enter"):
        press(keys, key, windowsVirtualKeyCode=COMPOSING)
    expect(page.get_by_label("yes")).not_to_be_checked()
    expect(page.get_by_role("heading", name="Keyboard shortcuts")).to_be_hidden()
    assert page.url == f"{desk.site}/inbox/{request.pk}/"
    press(keys, "1", windowsVirtualKeyCode=49)
    expect(page.get_by_label("yes")).to_be_checked()


def test_composed_letters_move_nothing_in_the_inbox(desk: Desk, member: User, make: Make) -> None:
    make()
    page = desk.open(member, "/inbox/", size="desk")
    keys, row = connect(page), page.locator("[data-row] a").first
    for key in ("j", "/"):
        press(keys, key, windowsVirtualKeyCode=COMPOSING)
    expect(row).not_to_be_focused()
    expect(page.get_by_role("searchbox")).not_to_be_focused()
    press(keys, "j", windowsVirtualKeyCode=74)
    expect(row).to_be_focused()


def test_an_escape_that_ends_a_composition_closes_no_menu(
    desk: Desk, member: User, make: Make
) -> None:
    page = desk.open(member, "/inbox/", size="desk")
    keys, menu = connect(page), page.locator("details.menu").first
    menu.locator("summary").click()
    press(keys, "Escape", windowsVirtualKeyCode=COMPOSING)
    expect(menu).to_have_attribute("open", "")
    press(keys, "Escape", windowsVirtualKeyCode=27)
    expect(menu).not_to_have_attribute("open", "")
