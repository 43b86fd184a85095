"""Forced colours and more contrast: what is chosen looks chosen, and text stands out 7:1."""

import io
from collections.abc import Iterator

import pytest
from PIL import Image, ImageChops
from playwright.sync_api import Browser, Page

from tests.browser.contexts import opened
from tests.browser.looking import STILL, accessibility_faults
from tests.browser.scene import Scene, set_the_scene

CLEARLY = 64  # of 255, in one of the three colours
MIN_SHARE = 0.03  # of the pixels
CHECK = "each => { each.querySelector('input').checked = true }"
MARK = "each => { each.setAttribute('aria-current', 'true') }"
UNMARK = "each => { each.removeAttribute('aria-current'); each.classList.remove('btn-primary') }"
OPEN_MENU = "() => { document.querySelector('details.menu').open = true }"
# The page, what is chosen there, and how.
CHOSEN = [
    ("/inbox/{critical}/", ".thumb-zone .choice >> nth=1", CHECK),
    ("/inbox/{rating}/", ".stars .choice >> nth=1", CHECK),
    ("/inbox/{labels}/", ".card .choice >> nth=1", CHECK),
    ("/inbox/", ".chips > .btn >> nth=0", UNMARK),
    ("/inbox/", ".menu-panel > a >> nth=1", MARK),
    ("/dashboard/loops/new/", ".icon-picker label >> nth=1", CHECK),
    ("/dashboard/keys/", ".side a >> nth=1", MARK),
]
# Visible icons in another colour than their words, and the colours of charts.
STRANGE_ICONS = """() => [...document.querySelectorAll(".icon:not(.stars .icon)")].filter(each => {
  const [own, words] = [each, each.parentElement].map(it => getComputedStyle(it).color);
  return each.checkVisibility() && own !== words;
}).map(each => each.outerHTML)"""
FILLED_STARS = """() => [...document.querySelectorAll(".stars .icon")].filter(
  each => getComputedStyle(each).color !== "rgba(0, 0, 0, 0)").length"""
FILLS = """() => [...document.querySelectorAll(".chart text, .chart [class^=series]")].map(
  each => getComputedStyle(each).fill)"""
WITH_DRAWINGS = [
    "/nothing/",
    "/inbox/",
    "/inbox/{rating}/",
    "/dashboard/",
    "/dashboard/keys/{key}/",
]
READ = ["/inbox/", "/inbox/{critical}/", "/inbox/{claimed}/", "/my-work/", "/dashboard/keys/new/"]


@pytest.fixture
def scene(transactional_db: None) -> Scene:
    return set_the_scene()


@pytest.fixture
def page(chromium: Browser, site: str, scene: Scene) -> Iterator[Page]:
    with opened(chromium, site, scene.member, size="desk", reduced_motion="reduce") as context:
        yield context.new_page()


def test_what_is_chosen_looks_chosen_in_forced_colours(page: Page, scene: Scene) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(forced_colors="active", color_scheme=scheme)
        alike = [each[:2] for each in CHOSEN if share_of_change(page, scene, *each) < MIN_SHARE]
        assert alike == [], scheme


def test_drawings_have_the_colours_of_the_system(
    chromium: Browser, site: str, scene: Scene
) -> None:
    with opened(chromium, site, scene.owner, size="desk", reduced_motion="reduce") as context:
        page = context.new_page()
        page.emulate_media(color_scheme="dark")
        for path in WITH_DRAWINGS:
            page.goto(path.format(**scene.ids))
            page.evaluate(STILL)
            ours = set(page.evaluate(FILLS))
            page.emulate_media(forced_colors="active")
            assert page.evaluate(STRANGE_ICONS) == [], path
            assert page.evaluate(FILLED_STARS) == 0, path
            assert not ours & set(page.evaluate(FILLS)), path
            page.emulate_media(forced_colors="none")
    assert ours  # of the last page's chart


def test_more_contrast(page: Page, scene: Scene) -> None:
    page.emulate_media(contrast="more", color_scheme="light")
    alike = [each[:2] for each in CHOSEN[:3] if share_of_change(page, scene, *each) < MIN_SHARE]
    assert alike == []
    for path in READ:
        page.goto(path.format(**scene.ids))
        page.evaluate(STILL)
        for scheme in ("light", "dark"):
            page.emulate_media(contrast="more", color_scheme=scheme)
            assert accessibility_faults(page, ["color-contrast-enhanced"]) == [], (path, scheme)


def share_of_change(page: Page, scene: Scene, path: str, selector: str, choose: str) -> float:
    """The share of an element's pixels that look clearly different once it is chosen."""
    page.goto(path.format(**scene.ids))
    if ".menu" in selector:
        page.evaluate(OPEN_MENU)
    each = page.locator(selector)
    before = look_at(each.screenshot())
    each.evaluate(choose)
    change = ImageChops.difference(before, look_at(each.screenshot()))
    red, green, blue = change.split()
    most = ImageChops.lighter(ImageChops.lighter(red, green), blue).histogram()
    return sum(most[CLEARLY:]) / sum(most)


def look_at(picture: bytes) -> Image.Image:
    return Image.open(io.BytesIO(picture)).convert("RGB")
