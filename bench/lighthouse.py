"""Rates pages with Lighthouse, and asks Chromium whether the service can be installed as an app.

Lighthouse is a command of the npm package of that name, which nothing else needs:
`npm install --global lighthouse@12`.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import tempfile

from bench.cast import Cast
from bench.first_paint import CHROMIUM, first_question
from bench.outcome import Goal, Part, table
from bench.serving import Web

MISSING = f"Not measured in this run: it needs Playwright, {CHROMIUM} and the command lighthouse."
GOALS = {"accessibility": 100, "best-practices": 95}
FLAGS = "--headless=new --no-sandbox --disable-gpu"
# High enough that the bottom bar covers nothing: half-covered targets would count as too small.
PHONE = {"mobile": "true", "width": "412", "height": "9000", "deviceScaleFactor": "1"}


def measure(service: Web, cast: Cast) -> Part:
    """Returns the scores of some pages of both faces, and obstacles to the installation."""
    if not (shutil.which("lighthouse") and shutil.which(CHROMIUM) and has_playwright()):
        return Part({"lighthouse": MISSING})
    site = f"http://127.0.0.1:{service.port}"
    question = first_question(service.port, cast.cookie)
    pages = {
        "/": "",
        "/accounts/login/": "",
        "/inbox/": cast.cookie,
        question: cast.cookie,
        "/my-work/": cast.cookie,
        "/dashboard/": cast.owner,
        "/dashboard/requests/": cast.owner,
        "/dashboard/requests/new/": cast.owner,
    }
    rows, goals = [], []
    for path, cookie in pages.items():
        scores, faults = rate(site + path, cookie)
        name = "/inbox/…/" if path == question else path
        rows.append([name, *(f"{scores[kind]:.0f}" for kind in GOALS), ", ".join(faults)])
        goals += [Goal(f"{kind} of {name}", GOALS[kind], None, scores[kind]) for kind in GOALS]
    errors = find_installation_errors(site, cast.cookie)
    goals.append(Goal("errors of the installation", 0, None, len(errors), at_most=True))
    listed = table(["page", *GOALS, "what is missing"], rows)
    hindered = ", ".join(errors) or "nothing"
    return Part({"lighthouse": f"{listed}\n\nWhat hinders the installation: {hindered}."}, goals)


def has_playwright() -> bool:
    return importlib.util.find_spec("playwright") is not None


def rate(url: str, cookie: str) -> tuple[dict[str, float], list[str]]:
    """Returns the scores of a page, and the names of the audits that it fails."""
    headers = json.dumps({"Cookie": f"sessionid={cookie}"} if cookie else {})
    command = ["lighthouse", url, "--quiet", "--output=json", f"--chrome-flags={FLAGS}"]
    command += [f"--only-categories={','.join(GOALS)}", f"--extra-headers={headers}"]
    command += [f"--screenEmulation.{name}={value}" for name, value in PHONE.items()]
    told = subprocess.run(
        command, env={**os.environ, "CHROME_PATH": CHROMIUM}, check=True, stdout=subprocess.PIPE
    )
    report = json.loads(told.stdout)
    if report["finalDisplayedUrl"] != url:  # Lighthouse rated another page, such as the sign-in
        raise RuntimeError(f"{url} led to {report['finalDisplayedUrl']}")
    audits = {each["id"] for kind in GOALS for each in report["categories"][kind]["auditRefs"]} & {
        name for name, audit in report["audits"].items() if audit["score"] not in (None, 1)
    }
    return {kind: report["categories"][kind]["score"] * 100 for kind in GOALS}, sorted(audits)


def find_installation_errors(site: str, cookie: str) -> list[str]:
    """Returns Chromium's obstacles to installing the page. It never installs in incognito."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as profile:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=CHROMIUM, args=FLAGS.split(), headless=True
        )
        context.add_cookies([{"name": "sessionid", "value": cookie, "url": site}])
        page = context.pages[0]
        page.goto(f"{site}/inbox/", wait_until="networkidle")
        answer = context.new_cdp_session(page).send("Page.getInstallabilityErrors")
        context.close()
    return [each["errorId"] for each in answer["installabilityErrors"]]
