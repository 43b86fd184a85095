"""A page of every layout in the pseudo-locale: from right to left, with longer texts."""

from playwright.sync_api import Browser, Page

from tests.browser.catalogue import EVERY_PAGE
from tests.browser.contexts import SIZES
from tests.browser.looking import DRAWN, arrive, signed_in_contexts
from tests.browser.scene import set_the_scene
from tests.browser.visitor import TOO_WIDE

WIDTHS = (320, 1280)
LAYOUTS = {
    "home", "sign-in", "join", "not-found", "account", "two-factor", "keys", "key",
    "webhook-secret", "audit", "overview", "loop", "loop-edit", "requests", "request-new",
    "request", "request-late", "deliveries", "delivery", "inbox", "answer-single",
    "answer-number", "claimed-by-other", "done", "work", "my-loops", "notifications",
}  # fmt: skip
# The page's own menus, opened; nothing in them may lie off the screen.
OPENED = "() => document.querySelectorAll('details.menu').forEach(each => { each.open = true; })"
CLOSED = "() => document.querySelectorAll('details.menu').forEach(each => { each.open = false; })"
OFF_SCREEN = """() => [...document.querySelectorAll("details.menu[open] :is(a, button)")]
  .filter(each => each.checkVisibility())
  .filter(each => { const box = each.getBoundingClientRect();
    return box.left < -1 || box.right > document.documentElement.clientWidth + 1; })
  .map(each => each.textContent.trim())"""


def test_every_layout_has_room(
    chromium: Browser, site: str, transactional_db: None, pseudo_locale: str
) -> None:
    scene = set_the_scene()
    faults = []
    with signed_in_contexts(chromium, site, scene) as contexts:
        for context in contexts.values():
            context.set_extra_http_headers({"Accept-Language": pseudo_locale})
        pages = {name: context.new_page() for name, context in contexts.items()}
        for stop in (stop for stop in EVERY_PAGE if stop.title in LAYOUTS):
            page = pages[stop.who]
            page.set_viewport_size(SIZES["phone"])  # type: ignore[arg-type]
            arrive(page, stop, scene)
            faults += [f"{stop.title}: {fault}" for fault in measure(page)]
    assert faults == [], "\n".join(faults)


def measure(page: Page) -> list[str]:
    """What is wrong with the layout of a page that runs from right to left."""
    found = [] if page.evaluate("document.dir") == "rtl" else ["not from right to left"]
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate(DRAWN)
        wide = page.evaluate(TOO_WIDE)
        page.evaluate(OPENED)
        page.evaluate(DRAWN)
        lost = page.evaluate(OFF_SCREEN)
        page.evaluate(CLOSED)
        found += [f"{width}: {wide} px too wide"] if wide else []
        found += [f"{width}: off the screen: {each}" for each in lost]
    return found
