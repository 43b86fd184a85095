"""`make screenshots`: every page of the catalogue, at four widths and in every mode.

Contact sheets go to build/sheets/, a folder for each mode, and the pictures themselves to a folder
for each width in it. The light pictures of a phone and a desk
that documents show go to docs/screenshots/. SHOTS=home,inbox takes these pages alone, and
MODES=dark,arabic these modes. Not collected by `make test`.
"""

import io
import os
from collections.abc import Callable
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


MODES = {
    "light": Mode(),
    "dark": Mode({"color_scheme": "dark"}),
    "forced-colours": Mode({"forced_colors": "active"}),
    "large-text": Mode(change=enlarge_text),
    "arabic": Mode(fill=write_arabic),
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
    sheets = [Sheets(width, SHEETS / mode) for width in SCREENS]
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
            for each in sheets:
                size = each.width, SCREENS[each.width]
                each.add(stop.title, take(page, *size, TALLEST_ON_SHEET))
            if mode == "light" and stop.pictured:
                keep_for_documents(page, stop)
            page.close()
    for each in sheets:
        each.save()


def take(page: Page, width: int, height: int, tallest: int) -> Image.Image:
    """Takes a picture of the whole page, or of so many screens."""
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(DRAWN)
    whole = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": width, "height": min(max(whole, height), tallest * height)})
    page.evaluate(DRAWN)
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def keep_for_documents(page: Page, stop: Stop) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    for size, screen in SIZES.items():
        picture = take(page, screen["width"], screen["height"], TALLEST)
        picture.quantize(MAX_COLOURS).save(KEPT / f"{stop.title}-{size}.png", optimize=True)


class Sheets:
    """Sheets of the pictures of one width: column by column, each under its title."""

    def __init__(self, width: int, folder: Path) -> None:
        self.width, self.folder = width, folder
        self.sheets: list[Image.Image] = []
        self.left = self.top = max(SHEET)  # the first picture needs a sheet

    def add(self, title: str, picture: Image.Image) -> None:
        """Saves the picture, and keeps a small one."""
        own = self.folder / str(self.width)
        own.mkdir(parents=True, exist_ok=True)
        picture.save(own / f"{title}.png")
        small = shrink(picture, THUMB[self.width])
        if self.top + TITLE_HEIGHT + small.height > SHEET[1]:
            self.left, self.top = self.left + small.width + GAP, 0
        if self.left + small.width > SHEET[0]:
            self.sheets.append(Image.new("RGB", SHEET, "#888888"))
            self.left = self.top = 0
        title_at = self.left + 2, self.top + 2
        ImageDraw.Draw(self.sheets[-1]).text(title_at, title, fill="white")
        self.sheets[-1].paste(small, (self.left, self.top + TITLE_HEIGHT))
        self.top += TITLE_HEIGHT + small.height + GAP

    def save(self) -> None:
        for number, sheet in enumerate(self.sheets, start=1):
            sheet.save(self.folder / f"{self.width}-{number:02}.png", optimize=True)


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
