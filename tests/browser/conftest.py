"""A headless Chromium on a phone's screen, and the service on a port of its own.

These tests have a pytest process to themselves (make test): Playwright keeps an event loop
running, and Django refuses its ORM beside one unless DJANGO_ALLOW_ASYNC_UNSAFE is set.
"""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from accounts.models import User
from tests.backends import backends
from tests.browser.contexts import opened
from tests.browser.visitor import Visitor
from tests.waiting import stretched, wait_until

CHROMIUM = "/usr/bin/chromium"
# The same engine without windows and without push. It takes half the CPU time.
HEADLESS_SHELL = "/usr/bin/chromium-headless-shell"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Pages share a process, which saves a tenth of the time: a new one for each begins cold.
    "--renderer-process-limit=1",
    "--process-per-site",
    "--disable-site-isolation-trials",
    "--disable-features=BackForwardCache,ProactivelySwapBrowsingInstance,SpareRendererForSitePerProcess",
]


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    if not shutil.which(CHROMIUM):
        reason = f"{CHROMIUM} is not installed: apt-get install chromium chromium-headless-shell"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    """The headless shell where it is installed, else Chromium itself."""
    path = HEADLESS_SHELL if shutil.which(HEADLESS_SHELL) else CHROMIUM
    browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def chromium_with_push(playwright: Playwright) -> Iterator[Browser]:
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def django_db_setup(playwright: Playwright, django_db_setup: None) -> None:
    """The database comes after Playwright and goes before it: Django keeps one connection with
    an event loop and another without, and the second would hinder the database's removal."""


@pytest.fixture(autouse=True)
def _patience() -> None:
    """How long `expect` waits."""
    expect.set_options(timeout=stretched() * 1_000)


@pytest.fixture
def site(live_server: LiveServer, settings: Settings) -> Iterator[str]:
    """The address of the running service; links are built with it."""
    settings.SITE_URL = live_server.url
    settings.ROOT_URLCONF = "tests.browser.paths"
    yield str(live_server.url)
    wait_until(lambda: not backends())  # whoever stays would hinder the database's removal


@pytest.fixture
def owner(transactional_db: None, owner: User) -> User:
    """Written for the server's own connections to see."""
    return owner


@pytest.fixture(params=[True, False], ids=["scripts", "no-scripts"])
def page(request: pytest.FixtureRequest, chromium: Browser, site: str) -> Iterator[Page]:
    """An empty page, once with JavaScript and once without."""
    with opened(chromium, site, java_script_enabled=request.param) as context:
        yield context.new_page()


@pytest.fixture
def visitor(page: Page) -> Visitor:
    return Visitor(page)


@pytest.fixture(params=[("phone", True), ("desk", False)], ids=["phone", "desk-without-scripts"])
def anyone(request: pytest.FixtureRequest, chromium: Browser, site: str) -> Iterator[Visitor]:
    """A visitor on a phone, and one at a desk without JavaScript. What a desk alone draws, with
    JavaScript too, is looked at on every page (test_every_page.py)."""
    size, scripts = request.param
    with opened(chromium, site, size=size, java_script_enabled=scripts) as context:
        yield Visitor(context.new_page())
