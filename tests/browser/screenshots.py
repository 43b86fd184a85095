"""`make screenshots`: every pictured page of the catalogue into docs/screenshots/.

Light pictures of both sizes are part of the repository; dark ones go to build/screenshots/, to be
looked at. Not collected by `make test`.
"""

import io
import os
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Route

from tests.browser.catalogue import EVERY_PAGE
from tests.browser.contexts import SIZES
from tests.browser.looking import arrive, signed_in_contexts
from tests.browser.scene import set_the_scene
from tests.dashboard.scene import alive

ROOT = Path(__file__).resolve().parents[2]
KEPT, LOOKED_AT = ROOT / "docs/screenshots", ROOT / "build/screenshots"
MAX_COLOURS = 96
TALLEST = 3  # screens


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_photograph(
    chromium: Browser, site: str, transactional_db: None, size: str, scheme: str
) -> None:
    """SHOTS=home,inbox photographs those alone; SHOTS=all also the pages that have no picture, all
    into build/screenshots/."""
    scene = set_the_scene()
    wanted = os.environ.get("SHOTS", "")
    with signed_in_contexts(chromium, site, scene, size, scheme) as contexts:
        for context in contexts.values():
            context.route("**/css/app*.css", wait_for_the_font)
        for stop in EVERY_PAGE:
            chosen = wanted == "all" or stop.title in wanted.split(",")
            if not (chosen or (stop.pictured and not wanted)):
                continue
            alive()  # its pulse is half a minute old after some pictures
            page = contexts[stop.who].new_page()
            arrive(page, stop, scene)
            whole = page.evaluate("document.documentElement.scrollHeight")
            height = min(max(whole, SIZES[size]["height"]), TALLEST * SIZES[size]["height"])
            page.set_viewport_size({"width": SIZES[size]["width"], "height": height})
            folder = KEPT if scheme == "light" and not wanted else LOOKED_AT
            name = f"{stop.title}-{size}" + ("" if folder == KEPT else f"-{scheme}")
            keep(page.screenshot(), folder / f"{name}.png")
            page.close()


def wait_for_the_font(route: Route) -> None:
    """A picture shows what the second visit does, when the font is there."""
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.text().replace("optional", "block"))


def keep(picture: bytes, path: Path) -> None:
    """With few colours."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(MAX_COLOURS).save(path, optimize=True)
