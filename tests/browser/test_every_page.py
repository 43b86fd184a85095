"""Every page of the catalogue at both sizes, by day and by night."""

import gzip

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response

from accounts.models import AuditEntry, User
from tests.browser.catalogue import EVERY_PAGE, Stop
from tests.browser.looking import (
    SIZES,
    accessibility_faults,
    arrive,
    signed_in_context,
    signed_in_contexts,
)
from tests.browser.scene import Scene, set_the_scene
from tests.browser.visitor import TOO_SMALL, TOO_WIDE

MOST = {
    "document": 60_000,
    "stylesheet": 25_000,
    "script": 30_000,
}  # bytes; the last two compressed


@pytest.fixture
def scene(transactional_db: None) -> Scene:
    return set_the_scene()


class Looker:
    """Opens pages, and writes down what is wrong with each."""

    def __init__(self, site: str, scene: Scene) -> None:
        self.site = site
        self.scene = scene
        self.faults: list[str] = []

    def visit(self, context: BrowserContext, stop: Stop) -> None:
        page = context.new_page()
        found: list[str] = []
        responses: list[Response] = []

        def heard(message: ConsoleMessage) -> None:
            expected = (
                f"{stop.status} (",
                "does not conform to the required format",
            )  # what was typed
            if message.type in ("error", "warning") and not any(
                e in message.text for e in expected
            ):
                found.append(f"console: {message.text}")

        def asked(request: Request) -> None:
            ours = request.url.startswith((self.site, "data:", "blob:"))
            if not ours and not (stop.images and request.resource_type == "image"):
                found.append(f"another host: {request.url}")

        page.on("console", heard)
        page.on("pageerror", lambda error: found.append(f"script: {error}"))
        page.on("request", asked)
        page.on("response", lambda response: responses.append(response))
        found += self.look(page, stop, responses)
        self.faults += [f"{stop.title} ({page.url}): {fault}" for fault in found]
        page.close()

    def look(self, page: Page, stop: Stop, responses: list[Response]) -> list[str]:
        status = arrive(page, stop, self.scene)
        if status != stop.status:
            return [f"answered {status}"]
        found = accessibility_faults(page) + too_heavy(responses)
        if page.evaluate(TOO_WIDE):
            found.append(f"wider than the screen by {page.evaluate(TOO_WIDE)} px")
        found += [f"too small: {html}" for html in page.evaluate(TOO_SMALL)]
        headings = page.locator("h1").count()
        found += [] if headings == 1 else [f"{headings} h1"]
        return found + [f"by night: {fault}" for fault in self.look_by_night(page, stop)]

    def look_by_night(self, page: Page, stop: Stop) -> list[str]:
        """Loads it anew: axe-core would meet colours half-way to their change."""
        page.emulate_media(color_scheme="dark")
        arrive(page, stop, self.scene)
        return accessibility_faults(page)


def too_heavy(responses: list[Response]) -> list[str]:
    """The kinds of file of which a page loads too much."""
    weights = dict.fromkeys(MOST, 0)
    pages = [n for n, each in enumerate(responses) if each.request.resource_type == "document"]
    for response in responses[pages[-1] :]:  # another page may have led here
        kind = response.request.resource_type
        if kind in weights and response.ok:
            body = response.body()
            weights[kind] += len(body) if kind == "document" else len(gzip.compress(body))
    return [f"{kind}: {weight} bytes" for kind, weight in weights.items() if weight > MOST[kind]]


PALE = """<style>
    p { color: #000; background: #fff }
    @media (prefers-color-scheme: dark) { p { color: #333; background: #222 } }
</style><p>pale by night</p>"""


def test_axe_is_awake(chromium: Browser) -> None:
    page = chromium.new_page(color_scheme="light")
    page.set_content(PALE)
    assert not any(fault.startswith("color-contrast: ") for fault in accessibility_faults(page))
    page.emulate_media(color_scheme="dark")
    assert any(fault.startswith("color-contrast: ") for fault in accessibility_faults(page))
    page.close()


@pytest.mark.parametrize("size", SIZES)
def test_nothing_is_wrong_with_any_page(
    chromium: Browser, site: str, scene: Scene, size: str
) -> None:
    looker = Looker(site, scene)
    with signed_in_contexts(chromium, site, scene, size, "light") as contexts:
        for stop in EVERY_PAGE:
            looker.visit(contexts[stop.who], stop)
    assert looker.faults == [], "\n".join(looker.faults)


@pytest.mark.parametrize("size", SIZES)
def test_the_operator_too_can_read_everything(
    chromium: Browser, site: str, scene: Scene, operator: User, size: str
) -> None:
    """Django's own pages: their weight is not ours to choose."""
    names = ("user", "apikey", "usage", "auditentry")
    paths = ["/admin/", *(f"/admin/accounts/{name}/" for name in names)]
    paths += [f"/admin/accounts/user/{scene.owner.pk}/{rest}/" for rest in ("change", "history")]
    paths += [f"/admin/accounts/apikey/{scene.ids['key']}/change/"]
    paths += [f"/admin/accounts/auditentry/{AuditEntry.objects.earliest('created_at').pk}/change/"]
    faults = []
    for scheme in ("light", "dark"):
        with signed_in_context(chromium, site, operator, size, scheme) as context:
            page = context.new_page()
            for path in paths:
                answer = page.goto(path, wait_until="load")
                assert answer, path
                found = [f"answered {answer.status}"] if answer.status != 200 else []
                found += accessibility_faults(page)
                found += ["wider than the screen"] if page.evaluate(TOO_WIDE) else []
                faults += [f"{scheme} {path}: {fault}" for fault in found]
    assert faults == [], "\n".join(faults)
