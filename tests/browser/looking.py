"""Walking through the catalogue with a browser that is signed in, and looking at each page."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

from tests.browser.catalogue import Stop
from tests.browser.contexts import SIZES, opened
from tests.browser.opening import faults_when_opened
from tests.browser.scene import Scene
from tests.browser.visitor import TOO_SMALL, TOO_WIDE

AXE = (Path(__file__).parent / "vendor/axe.min.js").read_text(encoding="utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
COLOUR_RULES = ["color-contrast", "link-in-text-block"]  # those of them that look at colours
# No rule of these needs the style sheets themselves, which axe would fetch once more.
# axe-core knows that what is under a fixed bar can be scrolled from there, but not of a sticky one.
FAULTS = """async ({rules, without, otherThan}) => {
  const place = otherThan ? {include: drawnOtherThan(otherThan)} : document;
  if (place.include?.length === 0) return [];
  const bar = document.querySelector(".tabbar");
  if (bar) Object.assign(bar.style, {position: "fixed", inset: "auto 0 0"});
  const {violations} = await axe.run(place, {
    runOnly: rules, rules: Object.fromEntries(without.map(rule => [rule, {enabled: false}])),
    resultTypes: ["violations"], preload: false, iframes: false});
  if (bar) Object.assign(bar.style, {position: "", inset: ""});
  return violations.flatMap(v => v.nodes.map(n =>
    `${v.id}: ${n.target} ${n.failureSummary.replace(/\\s+/g, " ")}`));
}"""
# Writes down how everything is drawn, so that at another size the rules about colours need look
# only at what is drawn otherwise, or may have come to lie over something else.
REMEMBER = """name => {
  const everything = () => [...document.querySelectorAll("body, body *")];
  const lookOf = element => {
    if (!element.checkVisibility({visibilityProperty: true})) return "";
    const style = getComputedStyle(element);
    return [style.color, style.background, style.opacity, style.fontSize, style.fontWeight,
      style.textDecorationLine, style.borderBottomStyle, style.filter].join();
  };
  const isLifted = element => /absolute|fixed|sticky/.test(getComputedStyle(element).position);
  window.looks ??= {};
  looks[name] = new Map(everything().map(element => [element, lookOf(element)]));
  window.drawnOtherThan = name => {
    const others = everything().filter(element => {
      const look = lookOf(element);
      return look && (look !== looks[name].get(element) || isLifted(element));
    });
    const whole = new Set(others);
    const isInside = element => {
      for (let each = element.parentElement; each; each = each.parentElement)
        if (whole.has(each)) return true;
      return false;
    };
    return others.filter(element => !isInside(element));
  };
}"""
# Colours change at once: axe-core would meet them half-way.
STILL = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("*, ::before, ::after { transition: none !important }");
  document.adoptedStyleSheets.push(sheet);
}"""
NARROWEST: ViewportSize = {"width": 320, "height": 568}
# Until the next picture is drawn.
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


@contextmanager
def signed_in_contexts(
    browser: Browser, site: str, scene: Scene, size: str = "phone", scheme: str = "light"
) -> Iterator[dict[str, BrowserContext]]:
    """A context for each of the scene's people."""
    options: dict[str, Any] = {"size": size, "color_scheme": scheme, "reduced_motion": "reduce"}
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(opened(browser, site, user, **options))
            for name, user in scene.people().items()
        }


def arrive(page: Page, stop: Stop, scene: Scene) -> int:
    """Opens the page as the catalogue says, and returns the status that it came with."""
    if stop.who == "stranger":
        page.context.clear_cookies()  # of whoever was half-way in
    answer = page.goto(stop.path(scene), wait_until="load")
    if stop.first:
        page.locator(stop.first).first.click()
    for selector, text in stop.typed:
        page.locator(selector).fill(text)
    if stop.leads:
        with page.expect_navigation(wait_until="load") as led:
            page.locator(stop.opens).click()
        answer = led.value
    elif stop.opens:
        page.locator(stop.opens).click()
    if stop.shows:
        page.locator(stop.shows).first.wait_for()
    return answer.status if answer else 0


def accessibility_faults(
    page: Page, rules: list[str] = RULES, *, without: Sequence[str] = (), other_than: str = ""
) -> list[str]:
    """What axe-core objects to, one line for each element: in all of the page, or in what is drawn
    otherwise than it was remembered."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE)
    asked = {"rules": rules, "without": list(without), "otherThan": other_than}
    faults: list[str] = page.evaluate(FAULTS, asked)
    return faults


def faults_in_every_state(
    page: Page, *, thumbs: bool = True, examined: set[str] | None = None
) -> list[str]:
    """What is wrong with an open page at any size, by day and by night, and with what it can open.

    It is loaded once: sizes and colours are the style sheet's. By night the rules that look at
    colours are enough, because nothing else differs (test_night_changes_colours_alone); at a desk
    they look at what is drawn otherwise than on a phone. `examined` remembers what was opened on
    other pages: the same menu is examined once.
    """
    page.evaluate(STILL)
    examined = set() if examined is None else examined
    found = [f"narrow, light: {fault}" for fault in faults_when_narrow(page, thumbs=thumbs)]
    for size in SIZES:
        page.set_viewport_size(SIZES[size])  # type: ignore[arg-type]
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.evaluate(DRAWN)
            state = layout_faults(page, thumbs=thumbs) if scheme == "light" else []
            state += (
                faults_on_a_phone(page, scheme)
                if size == "phone"
                else faults_at_a_desk(page, scheme)
            )
            if scheme == "light":
                state += faults_when_opened(page, RULES if size == "phone" else [], examined)
            found += [f"{size}, {scheme}: {fault}" for fault in state]
    return found


def faults_on_a_phone(page: Page, scheme: str) -> list[str]:
    page.evaluate(REMEMBER, scheme)
    return accessibility_faults(page, RULES if scheme == "light" else COLOUR_RULES)


def faults_at_a_desk(page: Page, scheme: str) -> list[str]:
    """Whatever else is found there than on a phone, in the same colours."""
    found = accessibility_faults(page, COLOUR_RULES, other_than=scheme)
    if scheme == "light":
        found += accessibility_faults(page, RULES, without=COLOUR_RULES)
    return found


def faults_when_narrow(page: Page, *, thumbs: bool) -> list[str]:
    """On the narrowest screen, which is also a desk's at 400 %."""
    page.set_viewport_size(NARROWEST)
    page.emulate_media(color_scheme="light")
    page.evaluate(DRAWN)
    return layout_faults(page, thumbs=thumbs) + faults_when_opened(page, [], set())


def layout_faults(page: Page, *, thumbs: bool) -> list[str]:
    """What is wider than the screen, or too small for a thumb."""
    too_wide, too_small = page.evaluate(TOO_WIDE), page.evaluate(TOO_SMALL) if thumbs else []
    found = [f"wider than the screen by {too_wide} px"] if too_wide else []
    return found + [f"too small: {html}" for html in too_small]
