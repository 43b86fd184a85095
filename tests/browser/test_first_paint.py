"""What the page of a question waits for before it shows itself, and that it stands still then."""

from playwright.sync_api import Browser, Page, Route

from accounts.models import User
from tests.browser.contexts import opened
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make

PAINTED = "() => performance.getEntriesByName('first-contentful-paint').length > 0"
PLACES = """() => [...document.querySelectorAll("main *, .thumb-zone *")]
  .map((each) => Object.values(each.getBoundingClientRect().toJSON()).join())"""
BLOCKING = """() => performance.getEntriesByType("resource")
  .filter((each) => each.renderBlockingStatus === "blocking").map((each) => each.name)"""


def test_letters_that_come_late_move_nothing(
    chromium: Browser, site: str, member: User, make: Make
) -> None:
    with opened(chromium, site, member) as context:
        page = context.new_page()
        held: list[Route] = []
        page.route("**/*.woff2", lambda route: held.append(route))
        page.goto(f"/inbox/{make().pk}/", wait_until="domcontentloaded")
        page.wait_for_function(PAINTED)
        assert len(blocking(page)) == 2  # the stylesheet, and the script that knows the appearance
        before = page.evaluate(PLACES)
        let_come(page, held)
        assert page.evaluate(PLACES) == before


def blocking(page: Page) -> list[str]:
    names: list[str] = page.evaluate(BLOCKING)
    return names


def let_come(page: Page, held: list[Route]) -> None:
    """The letters, to the end."""
    page.wait_for_function("() => [...document.fonts].some((each) => each.status === 'loading')")
    assert held
    for route in held:
        route.continue_()
    page.evaluate("document.fonts.ready.then(() => null)")
    page.wait_for_function("() => [...document.fonts].some((each) => each.status === 'loaded')")
