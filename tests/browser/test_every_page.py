"""Every page of the catalogue at both sizes, by day and by night."""

import gzip

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response

from accounts.models import AuditEntry, User
from tests.browser.catalogue import (
    ACCOUNT,
    DASHBOARD,
    ERRORS,
    EVERY_PAGE,
    KEYS,
    LOOPS,
    PORTAL,
    REQUESTS,
    STRANGERS,
    Stop,
)
from tests.browser.contexts import SIZES, opened
from tests.browser.looking import arrive, faults_in_every_state, signed_in_contexts
from tests.browser.scene import Scene, set_the_scene

MAX_BYTES = {
    "document": 64_000,
    "stylesheet": 25_000,
    "script": 30_000,
}  # bytes; the last two compressed
# About as many in each, for processes that share the work.
PARTS = {
    "strangers": [*STRANGERS, *ERRORS],
    "account": [*ACCOUNT, *KEYS],
    "requests": [*LOOPS, *REQUESTS],
    "portal": [*DASHBOARD, *PORTAL],
}
# The properties that the style sheets set where the system is dark, and their values now.
SET_BY_NIGHT = """() => {
  const found = new Set();
  const walk = (rules, isNight) => {
    for (const rule of rules) {
      const night = isNight || /prefers-color-scheme: *dark/.test(rule.conditionText ?? "");
      if (night && rule.style) for (const name of rule.style) found.add(name);
      if (rule.cssRules) walk(rule.cssRules, night);
    }
  };
  for (const sheet of document.styleSheets) walk(sheet.cssRules, false);
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries([...found].map(name => [name, style.getPropertyValue(name)]));
}"""


@pytest.fixture
def scene(transactional_db: None) -> Scene:
    return set_the_scene()


class Looker:
    """Opens pages, each person's in a tab of their own, and writes down what is wrong."""

    def __init__(self, site: str, scene: Scene, contexts: dict[str, BrowserContext]) -> None:
        self.site = site
        self.scene = scene
        self.stop = EVERY_PAGE[0]
        self.found: list[str] = []
        self.examined: set[str] = set()
        self.responses: list[Response] = []
        self.pages = {name: self.open(context) for name, context in contexts.items()}

    def open(self, context: BrowserContext) -> Page:
        page = context.new_page()
        page.on("console", self.hear)
        page.on("pageerror", lambda error: self.found.append(f"script: {error}"))
        page.on("request", self.check_host)
        page.on("requestfailed", self.note_failure)
        page.on("response", lambda response: self.responses.append(response))
        return page

    def hear(self, message: ConsoleMessage) -> None:
        # what was typed
        refused = f"{self.stop.refused} ("
        expected = (f"{self.stop.status} (", refused, "does not conform to the required format")
        if message.type in ("error", "warning") and not any(e in message.text for e in expected):
            self.found.append(f"console: {message.text}")

    def note_failure(self, request: Request) -> None:
        """Aborted requests as well; a page that is left ends its own in silence (`visit`)."""
        self.found.append(f"failed: {request.method} {request.url} {request.failure}")

    def check_host(self, request: Request) -> None:
        ours = request.url.startswith((self.site, "data:", "blob:"))
        if not ours and not (self.stop.images and request.resource_type == "image"):
            self.found.append(f"another host: {request.url}")

    def visit(self, stop: Stop) -> list[str]:
        """What is wrong with a page; it is left in the end, so that nothing more comes of it."""
        page = self.pages[stop.who]
        page.set_viewport_size(SIZES["phone"])  # type: ignore[arg-type]
        page.emulate_media(color_scheme="light")
        self.stop, self.found, self.responses = stop, [], []
        seen = self.look(page)
        title, found = f"{stop.title} ({page.url})", [*self.found, *seen]
        page.goto("about:blank")
        return [f"{title}: {fault}" for fault in found]

    def look(self, page: Page) -> list[str]:
        status = arrive(page, self.stop, self.scene)
        if status != self.stop.status:
            return [f"answered {status}"]
        found = too_heavy(self.responses)
        found += faults_in_every_state(page, examined=self.examined)
        headings = page.locator("h1").count()
        return found + ([] if headings == 1 else [f"{headings} h1"])


def too_heavy(responses: list[Response]) -> list[str]:
    """The kinds of file of which a page loads too much."""
    weights = dict.fromkeys(MAX_BYTES, 0)
    pages = [n for n, each in enumerate(responses) if each.request.resource_type == "document"]
    for response in responses[pages[-1] :]:  # another page may have led here
        kind = response.request.resource_type
        if kind in weights and response.ok:
            weights[kind] += weigh(response, kind)
    return [
        f"{kind}: {weight} bytes" for kind, weight in weights.items() if weight > MAX_BYTES[kind]
    ]


_FILES: dict[str, int] = {}  # their weights, by address


def weigh(response: Response, kind: str) -> int:
    """The bytes of a page; the compressed bytes of a file, which is the same on every page."""
    if kind == "document":
        return len(response.body())
    if response.url not in _FILES:
        _FILES[response.url] = len(gzip.compress(response.body()))
    return _FILES[response.url]


PALE = """<style>
    p { color: #000; background: #fff }
    .wide { display: none }
    @media (width > 800px) { .wide { display: block; color: #eee } .changed { color: #eee } }
    @media (prefers-color-scheme: dark) {
      p { background: #222; color: #fff }
      .night { color: #333 }
      @media (width > 800px) { .both { color: #333 } }
    }
</style><p class="night">pale by night</p><p class="changed">pale at a desk</p>
<p class="wide">seen at a desk alone, and pale</p><p class="both">pale at a desk by night</p>"""


def test_axe_is_awake(chromium: Browser) -> None:
    page = chromium.new_page(color_scheme="light")
    page.set_content(PALE)
    contrast = [each for each in faults_in_every_state(page) if "color-contrast: " in each]
    assert [tuple(each.split(" ")[:4]) for each in contrast] == [
        ("phone,", "dark:", "color-contrast:", ".night"),
        ("desk,", "light:", "color-contrast:", ".changed"),
        ("desk,", "light:", "color-contrast:", ".wide"),
        ("desk,", "dark:", "color-contrast:", ".both"),
    ]
    page.close()


CLOSED = """<style>.menu-panel { position: absolute; left: 0; white-space: nowrap }</style>
  <details class="menu"><summary>Menu</summary><nav class="menu-panel">
    <a href="#">Far</a><a href="#" style="margin-left: 400px">Farther</a></nav></details>
  <details><summary>Pale</summary><p style="color: #ccc">pale</p></details>
  <dialog aria-label="Low"><form>
    <button class="btn-error" autofocus>Destroy</button>
    <button style="position: fixed; top: 900px">Cancel</button></form></dialog>"""


def test_what_is_closed_is_opened_and_looked_at(chromium: Browser) -> None:
    page = chromium.new_page(color_scheme="light")
    page.set_content(CLOSED)
    found = {
        tuple(fault.split(": ")[:3])
        for fault in faults_in_every_state(page, thumbs=False)
        if "open: " in fault
    }
    assert ("phone, light", "open", "color-contrast") in found
    for size in ("narrow", *SIZES):
        assert (f"{size}, light", "Destroy Cancel, open", "out of reach") in found
        assert (f"{size}, light", "Destroy Cancel, open", "the focus is on what destroys") in found
        assert ((f"{size}, light", "Menu, open", "off the screen") in found) is (size != "desk")
    page.close()


def test_night_changes_colours_alone(chromium: Browser, site: str, transactional_db: None) -> None:
    """This is why by night the rules that look at colours are enough."""
    with opened(chromium, site, color_scheme="light") as context:
        page = context.new_page()
        page.goto("/")
        day = page.evaluate(SET_BY_NIGHT)
        page.emulate_media(color_scheme="dark")
        night = page.evaluate(SET_BY_NIGHT)
        is_colour = "value => CSS.supports('color', value)"
        others = {n for n in day if day[n] != night[n] and not page.evaluate(is_colour, night[n])}
    assert day["--color-base-100"] != night["--color-base-100"]
    assert others == {"color-scheme", "--hue-share", "--shadow-share"}  # shares of colours


@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_wrong_with_any_page(
    chromium: Browser, site: str, scene: Scene, part: str
) -> None:
    with signed_in_contexts(chromium, site, scene) as contexts:
        looker = Looker(site, scene, contexts)
        faults = [fault for stop in PARTS[part] for fault in looker.visit(stop)]
    assert faults == [], "\n".join(faults)


def test_every_page_is_in_a_part() -> None:
    assert [stop for part in PARTS.values() for stop in part] == EVERY_PAGE


def test_the_operator_too_can_read_everything(
    chromium: Browser, site: str, scene: Scene, operator: User
) -> None:
    """Django's own pages: their weight is not ours to choose."""
    names = ("user", "apikey", "reviewtoken", "usagerow", "auditentry")
    paths = ["/admin/", *(f"/admin/accounts/{name}/" for name in names)]
    paths += [f"/admin/accounts/user/{scene.owner.pk}/{rest}/" for rest in ("change", "history")]
    paths += [f"/admin/accounts/apikey/{scene.ids['key']}/change/"]
    paths += [f"/admin/accounts/auditentry/{AuditEntry.objects.earliest('created_at').pk}/change/"]
    faults = []
    examined: set[str] = set()
    with opened(chromium, site, operator, reduced_motion="reduce") as context:
        page = context.new_page()
        for path in paths:
            page.set_viewport_size(SIZES["phone"])  # type: ignore[arg-type]
            page.emulate_media(color_scheme="light")
            answer = page.goto(path, wait_until="load")
            assert answer, path
            found = [f"answered {answer.status}"] if answer.status != 200 else []
            found += faults_in_every_state(page, thumbs=False, examined=examined)
            faults += [f"{path}: {fault}" for fault in found]
    assert faults == [], "\n".join(faults)
