"""Hostile content: no script of it runs, nothing is fetched for it, and it stays on the screen."""

from typing import Any

from playwright.sync_api import Browser, Page

from accounts.models import User
from tests.browser.contexts import SIZES, opened
from tests.browser.hostile import questions
from tests.browser.looking import DRAWN
from tests.browser.visitor import TOO_WIDE
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make

# What scripts could do by themselves or would need to begin with, outside of our own files.
ALIEN = """() => [
  ...document.querySelectorAll("iframe, object, embed, base, meta[http-equiv], main style"),
  ...document.querySelectorAll("form:not([method=post], .inbox-filter)"),
  ...[...document.querySelectorAll("script")].filter((each) => !each.src.startsWith(origin)),
  ...[...document.querySelectorAll("*")].filter((each) =>
    [...each.attributes].some((one) => one.name.startsWith("on") || one.name === "style")),
  ...[...document.querySelectorAll("a")].filter((each) => !/^(https?|mailto):/.test(each.protocol)),
  ...document.querySelectorAll(".prose img"),
].map((each) => each.outerHTML.slice(0, 200))"""
OFF_SCREEN = """() => [...document.querySelectorAll("main *, .thumb-zone *")].filter((each) => {
  const box = each.getBoundingClientRect();
  const scrolls = each.closest(".prose table, pre, .chips");
  return box.width && box.height && !scrolls && (box.right > innerWidth + 1 || box.left < -1)
    && !each.closest(".sr-only, svg, input");
}).map((each) => each.outerHTML.slice(0, 120))"""


class Guard:
    """Notes whatever should not have happened."""

    def __init__(self, page: Page, site: str) -> None:
        self.page, self.site = page, site
        self.faults: list[str] = []
        page.on("dialog", lambda dialog: self.note(f"dialog: {dialog.message}"))
        page.on("request", lambda request: self.watch(request.url))
        page.on("pageerror", lambda error: self.note(f"script: {error}"))

    def note(self, fault: str) -> None:
        self.faults.append(fault)

    def watch(self, url: str) -> None:
        if not url.startswith((self.site, "data:", "blob:")):
            self.note(f"foreign request: {url}")

    def look(self, path: str) -> list[str]:
        """What is wrong with a page."""
        self.faults = []
        self.page.set_viewport_size(SIZES["phone"])  # type: ignore[arg-type]
        self.page.goto(path)
        for fold in self.page.locator(".context > summary").all():
            if not fold.evaluate("each => each.parentElement.open"):
                fold.click()
        found: list[Any] = self.page.evaluate(ALIEN)
        for name, size in SIZES.items():
            self.page.set_viewport_size(size)  # type: ignore[arg-type]
            self.page.evaluate(DRAWN)
            found += [f"{name}: {each}" for each in self.page.evaluate(OFF_SCREEN)]
            if wider := self.page.evaluate(TOO_WIDE):
                found.append(f"{name}: wider by {wider} px")
        if self.page.evaluate("window.hacked"):
            found.append("a script ran")
        return [*found, *self.faults]


def test_whatever_comes_stays_harmless(
    chromium: Browser, site: str, member: User, make: Make
) -> None:
    made = {name: make(**fields) for name, fields in questions().items()}
    assert len(made) >= 40
    with opened(chromium, site, member) as context:
        guard = Guard(context.new_page(), site)
        faults = {name: guard.look(f"/inbox/{each.pk}/") for name, each in made.items()}
        faults["inbox"] = guard.look("/inbox/")
        faults["second page"] = guard.look("/inbox/?page=2")
    assert {name: found for name, found in faults.items() if found} == {}
