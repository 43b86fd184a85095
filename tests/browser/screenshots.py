"""`make screenshots`: every page of the catalogue, at four widths and in every mode.

Contact sheets go to build/sheets/, a folder for each mode, and the pictures themselves to a folder
for each width in it. The light pictures of a phone and a desk
that documents show go to docs/screenshots/. SHOTS=home,inbox takes these pages alone, and
MODES=dark,arabic these modes. Not collected by `make test`.
"""

import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageDraw
from playwright.sync_api import Browser, Page, Route

from loops.models import Loop
from reviews.models import Request
from tests.browser.catalogue import EVERY_PAGE, Stop
from tests.browser.contexts import SIZES
from tests.browser.looking import DRAWN, arrive, signed_in_contexts
from tests.browser.scene import Scene, set_the_scene
from tests.dashboard.scene import alive

ROOT = Path(__file__).resolve().parents[2]
KEPT, SHEETS = ROOT / "docs/screenshots", ROOT / "build/sheets"
MAX_COLOURS = 96
TALLEST = 3  # screens, in documents
SCREENS = {320: 568, 390: 844, 1280: 800, 1920: 1080}  # widths and heights
TALLEST_ON_SHEET = 2  # screens
SHEET = (1200, 1000)  # what is seen at once without making it smaller
THUMB = {320: 232, 390: 292, 1280: 392, 1920: 592}  # widths on a sheet
GAP, TITLE_HEIGHT = 8, 16
ARABIC = (
    "# هل نعيد المبلغ للطلب 4821؟\n\n"
    "وصل الطرد **مكسورًا**، والعميل Ada Lovelace يطلب 80 € خلال 24 ساعة."
    "\n\n- الطلب رقم `4821`\n- تم الدفع عبر Stripe"
)


def leave(_: Page) -> None:
    """Changes nothing."""


def enlarge_text(page: Page) -> None:
    page.evaluate("document.documentElement.style.fontSize = '200%'")


def write_arabic(scene: Scene) -> None:
    """People who write from right to left, with Latin words between."""
    Loop.objects.update(name="مكتب استرداد الأموال (Refunds)", description="من يقرر بشأن الطلبات")
    Request.objects.update(request_text=ARABIC)
    for user in scene.people().values():
        if user is not None:
            user.name = "ليلى Haddad"
            user.save(update_fields=["name"])


@dataclass(frozen=True)
class Mode:
    """How the pages are looked at."""

    media: dict[str, Any] = field(default_factory=dict)
    change: Callable[[Page], None] = leave
    fill: Callable[[Scene], None] = lambda scene: None
    widths: tuple[int, ...] = tuple(SCREENS)


MODES = {
    "light": Mode(),
    "dark": Mode({"color_scheme": "dark"}),
    "forced-colours": Mode({"forced_colors": "active"}, widths=(390, 1280)),
    "large-text": Mode(change=enlarge_text, widths=(390, 1280)),
    "arabic": Mode(fill=write_arabic, widths=(390, 1280)),
}


def chosen(name: str, everything: list[str]) -> list[str]:
    """The names in an environment variable; all without it."""
    given = os.environ.get(name, "")
    return given.split(",") if given else everything


@pytest.mark.parametrize("mode", chosen("MODES", list(MODES)))
def test_photograph(chromium: Browser, site: str, transactional_db: None, mode: str) -> None:
    scene = set_the_scene()
    MODES[mode].fill(scene)
    titles = chosen("SHOTS", [stop.title for stop in EVERY_PAGE])
    taken: dict[int, list[tuple[str, Image.Image]]] = {width: [] for width in SCREENS}
    with signed_in_contexts(chromium, site, scene) as contexts:
        for context in contexts.values():
            context.route("**/css/app*.css", wait_for_the_font)
        for stop in EVERY_PAGE:
            if stop.title not in titles:
                continue
            alive()  # its pulse is half a minute old after some pictures
            page = contexts[stop.who].new_page()
            page.emulate_media(**MODES[mode].media)
            arrive(page, stop, scene)
            MODES[mode].change(page)
            for width, picture in photograph(page, MODES[mode].widths):
                taken[width].append((stop.title, picture))
            if mode == "light" and stop.pictured:
                keep_for_documents(page, stop)
            page.close()
    for width, pictures in taken.items():
        lay_out(pictures, width, SHEETS / mode)


def photograph(page: Page, widths: tuple[int, ...]) -> Iterator[tuple[int, Image.Image]]:
    """Yields a page's picture at each width."""
    for width in widths:
        yield width, take(page, width, SCREENS[width], TALLEST_ON_SHEET)


def take(page: Page, width: int, height: int, tallest: int) -> Image.Image:
    """Takes a picture of the whole page, or of so many screens."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(DRAWN)
    whole = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": width, "height": min(max(whole, height), tallest * height)})
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def keep_for_documents(page: Page, stop: Stop) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    for size, screen in SIZES.items():
        picture = take(page, screen["width"], screen["height"], TALLEST)
        picture.quantize(MAX_COLOURS).save(KEPT / f"{stop.title}-{size}.png", optimize=True)


def lay_out(pictures: list[tuple[str, Image.Image]], width: int, folder: Path) -> None:
    """Saves the pictures, and sheets of them: column by column, each under its title."""
    (folder / str(width)).mkdir(parents=True, exist_ok=True)
    sheets: list[Image.Image] = []
    left = top = max(SHEET)  # the first one needs a sheet
    for title, picture in pictures:
        picture.save(folder / str(width) / f"{title}.png")
        small = shrink(picture, THUMB[width])
        if top + TITLE_HEIGHT + small.height > SHEET[1]:
            left, top = left + THUMB[width] + GAP, 0
        if left + THUMB[width] > SHEET[0]:
            sheets.append(Image.new("RGB", SHEET, "#888888"))
            left = top = 0
        ImageDraw.Draw(sheets[-1]).text((left + 2, top + 2), title, fill="white")
        sheets[-1].paste(small, (left, top + TITLE_HEIGHT))
        top += TITLE_HEIGHT + small.height + GAP
    for number, sheet in enumerate(sheets, start=1):
        sheet.save(folder / f"{width}-{number:02}.png", optimize=True)


def shrink(picture: Image.Image, width: int) -> Image.Image:
    """Makes a picture smaller, without what is empty at its end."""
    ground = Image.new("RGB", picture.size, picture.getpixel((0, picture.height - 1)))
    used = ImageChops.difference(picture, ground).getbbox() or (0, 0, *picture.size)
    bottom = min(picture.height, used[3] + 24)
    scale = width / picture.width
    return picture.crop((0, 0, picture.width, bottom)).resize((width, int(bottom * scale)))


def wait_for_the_font(route: Route) -> None:
    """A picture shows what the second visit does, when the font is there."""
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.text().replace("optional", "block"))
