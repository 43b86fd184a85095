"""`python -m bench.first_paint`: when a phone on a slow network shows the page of a question.

Chromium's own throttling delays each answer by the round trip and shares the bandwidth; it does not
delay the opening of connections. Needs Playwright and /usr/bin/chromium.
"""

import os
import re
import statistics
import urllib.request
from contextlib import ExitStack
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from bench.outcome import table
from bench.serving import web
from bench.stage import say, stage

# Round trip in ms, bits per second down and up.
NETWORKS = {
    "slow 4G (150 ms, 1.6 Mbit/s)": (150, 1_600_000, 750_000),
    "3G (400 ms, 400 kbit/s)": (400, 400_000, 400_000),
}
ROUNDS = 5
PAINTED = """() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime"""


def first_question(site: str, cookie: str) -> str:
    call = urllib.request.Request(f"{site}/inbox/", headers={"Cookie": f"sessionid={cookie}"})
    with urllib.request.urlopen(call) as answer:
        found = re.search(r'href="(/inbox/[0-9a-f]{24}/)"', answer.read().decode())
    assert found, "nothing waits"
    return site + found[1]


def paint(browser: Browser, url: str, cookie: str, network: tuple[int, int, int]) -> list[float]:
    """Milliseconds until the first paint: the first time, and with the files in the cache."""
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
        found.append(float(page.evaluate(PAINTED)))
    context.close()
    return found


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    rows = []
    with stage() as here, ExitStack() as stack:
        cast = here.cast("1k", 1_000)
        service = stack.enter_context(web(DATABASE_URL=here.database("1k")))
        url = first_question(f"http://127.0.0.1:{service.port}", cast.cookie)
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        for name, network in NETWORKS.items():
            rounds = [paint(browser, url, cast.cookie, network) for _ in range(ROUNDS)]
            cold, warm = (statistics.median(times) for times in zip(*rounds, strict=True))
            rows.append([name, f"{cold / 1000:.2f} s", f"{warm / 1000:.2f} s"])
        browser.close()
    say(table(["network", "first visit", "files cached"], rows))


if __name__ == "__main__":
    main()
