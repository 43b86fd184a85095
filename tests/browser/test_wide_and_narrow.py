"""Lists on a phone, two lines a row with the status beside the title; pages on a wide screen."""

from django.urls import reverse
from playwright.sync_api import Browser

from loops.models import Loop
from tests.browser.contexts import SIZES, opened
from tests.browser.scene import set_the_scene
from tests.browser.visitor import TOO_WIDE

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

ARABIC = "مكتب استرداد الأموال والشكاوى (Refunds)"
# Whether the beginning of a text is inside the box that cuts it.
BEGINS_INSIDE = """each => {
  const text = document.createTreeWalker(each, NodeFilter.SHOW_TEXT).nextNode();
  const [range, at] = [document.createRange(), text.data.search(/\\S/)];
  range.setStart(text, at);
  range.setEnd(text, at + 1);
  const [first, box] = [range, each.closest(".sub, .bar-title")].map(
    it => it.getBoundingClientRect());
  return first.left >= box.left - 1 && first.right <= box.right + 1;
}"""
# Whether the name of the service is there as a whole, or not at all.
BRAND = """() => {
  const [box, name] = [".brand", ".brand > span"].map(
    it => document.querySelector(it).getBoundingClientRect());
  return name.top >= box.bottom - 1 || (name.right <= box.right + 1 && name.bottom <= box.bottom);
}"""
# Pages with text of twice the size, and what must neither break inside a word nor leave its box.
LARGE = {
    "/inbox/{labels}/": ".choice > span",
    "/dashboard/webhook-secret/": ".tabbar span, .note code",
}
BROKEN = """selector => [...document.querySelectorAll(selector)].filter(each => {
  const [own, box] = [each, each.closest(".choice, .tabbar, .note")].map(
    it => it.getBoundingClientRect());
  const size = parseFloat(getComputedStyle(each).fontSize);
  const isLetterByLetter = !each.matches("code") && own.height > 3.5 * size;
  return isLetterByLetter || own.right > box.right + 1;
}).map(each => each.outerHTML)"""
# Labels of a chart that reach into the next one.
OVERLAPPING = """() => {
  const labels = [...document.querySelectorAll(".chart svg[role=img] > text")].filter(
    each => each.checkVisibility());
  const boxes = labels.map(each => each.getBoundingClientRect());
  return boxes.slice(1).filter((box, place) => box.left < boxes[place].right + 4).map(String);
}"""
# Fields to choose from that have no room for five letters.
CRAMPED = """() => [...document.querySelectorAll("main select")].filter(each => {
  const {fontSize, paddingLeft, paddingRight} = getComputedStyle(each);
  const room = each.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  return each.checkVisibility() && room < 5 * parseFloat(fontSize);
}).map(each => each.name)"""
IS_WHOLE = "each => each.scrollWidth <= each.clientWidth && each.scrollHeight <= each.clientHeight"
TOP = "each => each.getBoundingClientRect().top"
# Whether the digit and its word stay together, however wide the lines are.
DIGIT_ALONE = """() => {
  const line = [...document.querySelectorAll("main p")].find(each => each.innerText.includes("6-"));
  const text = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  while (!text.nextNode().data.includes("6-"));
  const [range, at] = [document.createRange(), text.currentNode.data.indexOf("6-")];
  range.setStart(text.currentNode, at);
  range.setEnd(text.currentNode, at + "6-digit".length);
  const broken = [];
  for (let width = 140; width < 360; width += 5) {
    line.style.width = `${width}px`;
    if (range.getClientRects().length > 1) broken.push(width);
  }
  return broken;
}"""
LARGER = "percent => { document.documentElement.style.fontSize = `${percent}%` }"


def test_what_does_not_fit(chromium: Browser, site: str, transactional_db: None) -> None:
    scene = set_the_scene()
    Loop.objects.update(name=ARABIC)
    with opened(chromium, site, scene.owner) as context:
        page = context.new_page()
        page.set_viewport_size({"width": 320, "height": 568})
        page.goto(f"/inbox/{scene.ids['critical']}/")
        assert page.locator(".bar-title > h1").evaluate(BEGINS_INSIDE)
        page.goto(f"/inbox/{scene.ids['rating']}/")
        arrows = page.locator("[data-key=previous], [data-key=following]")
        tops = [arrows.nth(place).evaluate(TOP) for place in range(2)]
        assert tops[0] == tops[1]
        page.goto("/dashboard/requests/")
        assert page.locator(".sub > bdi").first.evaluate(BEGINS_INSIDE)
        page.goto(f"/dashboard/keys/{scene.ids['key']}/")
        assert page.evaluate(OVERLAPPING) == []
        for percent in (100, 150, 200):
            page.evaluate(LARGER, percent)
            assert page.evaluate(BRAND), percent
        page.set_viewport_size({"width": 390, "height": 844})
        for path, selector in LARGE.items():
            page.goto(path.format(**scene.ids))
            page.evaluate(LARGER, 200)
            assert page.evaluate(BROKEN, selector) == [], path


def test_text_of_twice_the_size(chromium: Browser, site: str, transactional_db: None) -> None:
    """A phone has room for names and fields, and a desk is laid out like a tablet."""
    scene = set_the_scene()
    answered, delivery = scene.ids["answered"], scene.ids["delivery"]
    with opened(chromium, site, scene.owner) as context:
        page = context.new_page()
        page.goto(f"/inbox/{scene.ids['critical']}/")
        page.evaluate(LARGER, 200)
        assert page.locator(".bar-title > h1").evaluate(IS_WHOLE)
        for path in ("/inbox/", "/dashboard/requests/?status=pending"):
            page.goto(path)
            page.evaluate(LARGER, 200)
            assert page.evaluate(CRAMPED) == [], path
        page.set_viewport_size(SIZES["desk"])  # type: ignore[arg-type]
        for path in (f"requests/{answered}/", f"deliveries/{delivery}/"):
            page.goto(f"/dashboard/{path}")
            assert page.evaluate(SIDE_BY_SIDE), path
            page.evaluate(LARGER, 200)
            assert not page.evaluate(SIDE_BY_SIDE), path
            assert page.evaluate(TOO_WIDE) == 0, path
            assert page.locator(".tabbar").bounding_box()["y"] < SIZES["desk"]["height"], path  # type: ignore[index]


def test_digits_stay_with_their_word(chromium: Browser, site: str, transactional_db: None) -> None:
    with opened(chromium, site) as context:
        page = context.new_page()
        page.goto(reverse("sign-in-by-code"))
        assert page.evaluate(DIGIT_ALONE) == []


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
