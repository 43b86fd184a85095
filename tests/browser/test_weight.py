"""What a phone loads: compressed, as the service sends it once `collectstatic` has run."""

import brotli
from playwright.sync_api import Browser, Page, Response

from accounts.models import User
from tests.browser.contexts import opened
from tests.browser.scene import PATCH, REFUND
from tests.portal.conftest import make as make
from tests.reviews.conftest import Make

MAX_INBOX = 60_000  # bytes of everything, with an empty cache
MAX_QUESTION = 15_000  # bytes of what the inbox has not loaded yet
# They are optional: a page that is shown before they are there does not wait for them.
LETTERS = "() => document.fonts.load('1em Inter').then(() => null)"
COMPRESSED = (".css", ".js", ".svg")  # by whitenoise, with brotli; fonts and pictures already are


def test_the_weight_of_the_first_two_pages(
    chromium: Browser, site: str, member: User, make: Make
) -> None:
    for _ in range(20):
        make(**REFUND)
    make(**{**PATCH, "priority": "critical", "timeout_seconds": 60})  # the most urgent one
    with opened(chromium, site, member) as context:
        page = context.new_page()
        responses: list[Response] = []
        page.on("response", lambda response: responses.append(response))
        page.goto("/inbox/", wait_until="networkidle")
        page.evaluate(LETTERS)
        inbox = weigh(responses)
        assert all(url.startswith(site) for url in inbox)
        assert {"document", "stylesheet", "script", "font"} <= kinds(responses)
        assert sum(inbox.values()) <= MAX_INBOX, report(inbox)
        question = weigh_next(page, responses)
        new = {url: size for url, size in question.items() if url not in inbox}
        assert all(url.startswith(site) for url in new)
        assert sum(new.values()) <= MAX_QUESTION, report(new)


def weigh_next(page: Page, responses: list[Response]) -> dict[str, int]:
    responses.clear()
    page.get_by_role("link", name="Start with the most urgent").click()
    page.wait_for_load_state("networkidle")
    assert "Merge this change" in page.title()
    return weigh(responses)


def weigh(responses: list[Response]) -> dict[str, int]:
    """Bytes by address. The server compresses documents itself; here it leaves the files alone."""
    return {response.url: weigh_one(response) for response in responses if response.ok}


def weigh_one(response: Response) -> int:
    if response.url.endswith(COMPRESSED):
        return len(brotli.compress(response.body()))
    return response.request.sizes()["responseBodySize"]


def kinds(responses: list[Response]) -> set[str]:
    return {response.request.resource_type for response in responses}


def report(sizes: dict[str, int]) -> str:
    largest = sorted(sizes.items(), key=lambda each: -each[1])
    return "\n".join(f"{size:>7} {url}" for url, size in largest)
