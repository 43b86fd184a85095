"""Measures how fast a person with a keyboard answers a hundred questions in a row.

The time is from the key that sends an answer to the paint of the next question, in desktop Chromium
without network delay. Counts the keys of each answer.
"""

import importlib.util
import shutil
import statistics
from typing import TYPE_CHECKING

from bench.cast import Cast
from bench.first_paint import CHROMIUM, MISSING, first_question
from bench.outcome import Goal, Part, table
from bench.serving import Web

if TYPE_CHECKING:
    from playwright.sync_api import Page

ANSWERS = 100
KEYS = ("1", "Enter")  # choose the first option and send it
MAX_KEYS = 2
MAX_MS = 150  # milliseconds, the median
# Resolves once the next question is drawn, with the milliseconds since the last key.
NEXT = """() => new Promise((resolve) => {
  const id = () => document.querySelector("[data-question]")?.dataset.question;
  const before = id();
  let pressed = 0;
  addEventListener("keydown", () => { pressed = performance.now(); }, { capture: true });
  const look = () => {
    if (id() === before) return;
    watcher.disconnect();
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - pressed)));
  };
  const watcher = new MutationObserver(look);
  watcher.observe(document.body, { childList: true, subtree: true });
})"""


def measure(service: Web, cast: Cast) -> Part:
    """Returns the keys of an answer and the milliseconds until the next question."""
    if not (shutil.which(CHROMIUM) and importlib.util.find_spec("playwright")):
        return Part({"answers": MISSING})
    from playwright.sync_api import sync_playwright

    site = f"http://127.0.0.1:{service.port}"
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.add_cookies([{"name": "sessionid", "value": cast.cookie, "url": site}])
        page = context.new_page()
        page.goto(site + first_question(service.port, cast.cookie), wait_until="networkidle")
        times = sorted(answer(page) for _ in range(ANSWERS))
        browser.close()
    median = statistics.median(times)
    row = [str(ANSWERS), str(len(KEYS)), f"{median:.0f} ms", f"{times[ANSWERS * 95 // 100]:.0f} ms"]
    return Part(
        {"answers": table(["answers in a row", "keys each", "median", "95 of 100"], [row])},
        [
            Goal("keys for an answer", MAX_KEYS, None, len(KEYS), at_most=True),
            Goal("from Send to the next question", MAX_MS, None, median, " ms", at_most=True),
        ],
    )


def answer(page: "Page") -> float:
    """Answers the open question with KEYS; returns the milliseconds until the next is drawn."""
    page.evaluate(f"() => {{ window.next = ({NEXT})(); }}")
    for key in KEYS:
        page.keyboard.press(key)
    return float(page.evaluate("() => window.next"))
