"""Lists on a phone, two lines a row with the status beside the title; pages on a wide screen."""

from playwright.sync_api import Browser

from tests.browser.contexts import opened
from tests.browser.scene import set_the_scene

LISTS = ("requests", "deliveries", "loops", "keys")
WIDE = {"width": 1920, "height": 1080}
TALLEST = 76  # pixels of two lines, with what is around them
# Rows that are higher than two lines, or whose status is not beside the title.
FAULTS = """tallest => [...document.querySelectorAll(".table-rows tbody tr")].flatMap(row => {
  const [title, state] = [".row-title", ".state"].map(
    name => row.querySelector(name).getBoundingClientRect());
  const beside = state.top < title.bottom && state.left >= title.right - 1;
  const height = row.getBoundingClientRect().height;
  return beside && height <= tallest ? [] : [`${row.innerText} ${height} ${beside}`];
})"""
# Whether two sections stand side by side.
SIDE_BY_SIDE = """() => {
  const [first, second] = document.querySelectorAll(".columns > *");
  return first.getBoundingClientRect().right < second.getBoundingClientRect().left;
}"""


def test_rows_and_columns(chromium: Browser, site: str, transactional_db: None) -> None:
    scene = set_the_scene()
    with opened(chromium, site, scene.owner) as context:
        page = context.new_page()
        for name in LISTS:
            page.goto(f"/dashboard/{name}/")
            assert page.locator(".table-rows tbody tr").count() > 1, name
            assert page.evaluate(FAULTS, TALLEST) == [], name
        page.set_viewport_size(WIDE)  # type: ignore[arg-type]
        for name in ("deliveries", "requests"):
            page.goto(f"/dashboard/{name}/")
            assert page.locator("table").first.evaluate("each => each.offsetWidth") > 1500, name
        answered, delivery = scene.ids["answered"], scene.ids["delivery"]
        for path in (f"requests/{answered}/", f"deliveries/{delivery}/", ""):
            page.goto(f"/dashboard/{path}")
            assert page.evaluate(SIDE_BY_SIDE), path
            assert page.locator(".columns").first.evaluate("each => each.offsetWidth") > 1500, path
