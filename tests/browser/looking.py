"""Walking through the catalogue with a browser that is signed in."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from playwright.sync_api import Browser, BrowserContext, Page

from accounts.models import User
from tests.browser.catalogue import Stop
from tests.browser.scene import Scene
from tests.portal import confirmed

SIZES = {"phone": {"width": 390, "height": 844}, "desk": {"width": 1280, "height": 800}}
AXE = Path(__file__).parent / "vendor/axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# No rule of these needs the style sheets themselves, which axe would fetch once more.
FAULTS = """async rules => (await axe.run(
    {runOnly: rules, resultTypes: ["violations"], preload: false, iframes: false}))
  .violations.flatMap(v => v.nodes.map(n =>
    `${v.id}: ${n.target} ${n.failureSummary.replace(/\\s+/g, " ")}`))"""


@contextmanager
def signed_in_contexts(
    browser: Browser, site: str, scene: Scene, size: str, scheme: str
) -> Iterator[dict[str, BrowserContext]]:
    """A context for each of the scene's people."""
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(signed_in_context(browser, site, user, size, scheme))
            for name, user in scene.people().items()
        }


@contextmanager
def signed_in_context(
    browser: Browser, site: str, user: User | None, size: str, scheme: str
) -> Iterator[BrowserContext]:
    """The server knows who it is; None is a stranger."""
    options: Any = {"viewport": SIZES[size], "color_scheme": scheme, "base_url": site}
    context = browser.new_context(**options, reduced_motion="reduce")
    context.set_default_timeout(10_000)
    if user:
        context.add_cookies([session_cookie(user, site)])  # type: ignore[list-item]
    yield context
    context.close()


def session_cookie(user: User, site: str) -> dict[str, str]:
    value = confirmed(user).cookies[settings.SESSION_COOKIE_NAME].value
    return {"name": settings.SESSION_COOKIE_NAME, "value": value, "url": site}


def arrive(page: Page, stop: Stop, scene: Scene) -> int:
    """Opens the page as the catalogue says, and returns the status that it came with."""
    if stop.who == "stranger":
        page.context.clear_cookies()  # of whoever was half-way in
    answer = page.goto(stop.path(scene), wait_until="load")
    for selector, text in stop.typed:
        page.locator(selector).fill(text)
    if stop.leads:
        with page.expect_navigation(wait_until="load") as led:
            page.locator(stop.opens).click()
        answer = led.value
    elif stop.opens:
        page.locator(stop.opens).click()
    return answer.status if answer else 0


def accessibility_faults(page: Page) -> list[str]:
    """What axe-core objects to, one line for each element."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    faults: list[str] = page.evaluate(FAULTS, RULES)
    return faults
