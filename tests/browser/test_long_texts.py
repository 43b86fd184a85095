"""Long texts are wrapped or cut, and push nothing out of the page."""

from playwright.sync_api import Browser, Page

from tests.browser.catalogue import EVERY_PAGE
from tests.browser.contexts import SIZES
from tests.browser.looking import DRAWN, arrive, signed_in_contexts
from tests.browser.overfull import overfill
from tests.browser.scene import set_the_scene
from tests.browser.visitor import TOO_WIDE

LONG = {
    "join", "overview", "loops", "loop", "loop-edit", "loop-delete", "loop-sheet", "loops-none",
    "requests", "request", "request-new", "request-cancel", "request-answered", "deliveries",
    "delivery", "keys", "key", "key-revoke", "audit", "inbox", "answer-single", "answer-text",
    "answer-multi", "answered", "done", "work", "my-loops", "account",
}  # fmt: skip
# What hides in a box of its own is found by looking at what it holds.
CUT_OFF = """[...document.querySelectorAll("main :is(h1, h2, h3, p, td, dd, dt, a, .btn, .badge)")]
  .filter(each => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1
    && !each.matches(".end, .pick")  // what they hold has a padding that reaches out of the cell
    && getComputedStyle(each).display != "inline" && getComputedStyle(each).overflowX == "visible")
  .map(each => each.outerHTML.slice(0, 120))"""
# More lines than words: a label was broken within a word.
BROKEN = """[...document.querySelectorAll(".row-link > span:first-of-type")].filter(each => {
  const range = document.createRange();
  range.selectNodeContents(each);
  const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
  return lines.size > each.textContent.trim().split(/\\s+/).length;
}).map(each => each.textContent)"""


def test_nothing_is_pushed_out(chromium: Browser, site: str, transactional_db: None) -> None:
    scene = set_the_scene()
    overfill(scene)
    faults = []
    with signed_in_contexts(chromium, site, scene) as contexts:
        pages = {name: context.new_page() for name, context in contexts.items()}
        for stop in EVERY_PAGE:
            if stop.title in LONG:
                page = pages[stop.who]
                page.set_viewport_size(SIZES["phone"])  # type: ignore[arg-type]
                arrive(page, stop, scene)
                faults += [f"{stop.title}: {fault}" for fault in pushed_out(page)]
    assert faults == [], "\n".join(faults)


def pushed_out(page: Page) -> list[str]:
    """At either size."""
    found = []
    for name, size in SIZES.items():
        page.set_viewport_size(size)  # type: ignore[arg-type]
        page.evaluate(DRAWN)
        wide, cut = page.evaluate(TOO_WIDE), page.evaluate(CUT_OFF)
        found += [f"{name}: broken: {each}" for each in page.evaluate(BROKEN)]
        found += [f"{name}: {wide} px"] if wide else []
        found += [f"{name}: cut off: {each}" for each in cut]
    return found
