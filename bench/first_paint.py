"""Measures when a phone on a slow network first shows the page of an open question.

Chromium's own throttling delays each response by the round trip and shares the bandwidth. It does
not delay the opening of connections.
"""

import importlib.util
import re
import shutil
import statistics
from typing import TYPE_CHECKING, Any

from bench.cast import Cast
from bench.outcome import Goal, Part, table
from bench.serving import Web, read_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = "/usr/bin/chromium"
MISSING = f"Not measured in this run: it needs Playwright and {CHROMIUM}."
# Round trip in ms, bits per second down and up.
NETWORKS = {
    "slow 4G (150 ms, 1.6 Mbit/s)": (150, 1_600_000, 750_000),
    "3G (400 ms, 400 kbit/s)": (400, 400_000, 400_000),
}
MAX_SECONDS = 1.5  # seconds, on either
ROUNDS = 5
PAINTED = """() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime"""


def measure(service: Web, cast: Cast) -> Part:
    """Returns the medians of the first and of the second visit, on each network."""
    if not (shutil.which(CHROMIUM) and importlib.util.find_spec("playwright")):
        return Part({"paint": MISSING})
    from playwright.sync_api import sync_playwright

    url = f"http://127.0.0.1:{service.port}{first_question(service.port, cast.cookie)}"
    rows, goals = [], []
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        for name, network in NETWORKS.items():
            rounds = [paint(browser, url, cast.cookie, network) for _ in range(ROUNDS)]
            cold, warm = (statistics.median(times) for times in zip(*rounds, strict=True))
            rows.append([name, f"{cold:.2f} s", f"{warm:.2f} s"])
            goals.append(Goal(f"first paint, {name}", MAX_SECONDS, None, cold, " s", at_most=True))
        browser.close()
    return Part({"paint": table(["network", "first visit", "files cached"], rows)}, goals)


def first_question(port: int, cookie: str) -> str:
    """The path of the most urgent question that nobody has claimed."""
    inbox = read_page(port, "/inbox/", cookie)
    for path in re.findall(r'href="(/inbox/[0-9a-f]{24}/)"', inbox):
        if 'id="answer-form"' in read_page(port, path, cookie):
            return str(path)
    raise RuntimeError("nothing waits")


def paint(browser: "Browser", url: str, cookie: str, network: tuple[int, int, int]) -> list[float]:
    """Seconds until the first paint: with an empty cache, and with the files cached."""
    phone: Any = {"width": 390, "height": 844}
    context = browser.new_context(viewport=phone, has_touch=True)
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": url}])
    page = context.new_page()
    latency, down, up = network
    conditions = {"offline": False, "latency": latency}
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send(
        "Network.emulateNetworkConditions",
        {**conditions, "downloadThroughput": down / 8, "uploadThroughput": up / 8},
    )
    found = []
    for _ in range(2):
        page.goto(url, wait_until="load")
        page.wait_for_function(PAINTED)
        found.append(float(page.evaluate(PAINTED)) / 1000)
    context.close()
    return found
