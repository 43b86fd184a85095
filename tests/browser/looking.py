"""Walking through the catalogue with a browser that is signed in."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page

from accounts.models import User
from tests.browser.scene import Scene

SIZES = {"phone": {"width": 390, "height": 844}, "desk": {"width": 1280, "height": 800}}
AXE = Path(__file__).parent / "vendor/axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# No rule of these needs the style sheets themselves, which axe would fetch once more.
FAULTS = """async rules => (await axe.run(
    {runOnly: rules, resultTypes: ["violations"], preload: false, iframes: false}))
  .violations.flatMap(v => v.nodes.map(n =>
    `${v.id}: ${n.target} ${n.failureSummary.replace(/\\s+/g, " ")}`))"""


@contextmanager
def signed_in_contexts(
    browser: Browser, site: str, scene: Scene, size: str, scheme: str
) -> Iterator[dict[str, BrowserContext]]:
    """A context for the stranger, the owner and the member; the server knows who they are."""
    people: dict[str, User | None] = {
        "stranger": None,
        "owner": scene.owner,
        "member": scene.member,
    }
    options: Any = {"viewport": SIZES[size], "color_scheme": scheme, "base_url": site}
    contexts = {}
    for name, user in people.items():
        contexts[name] = browser.new_context(**options, reduced_motion="reduce")
        contexts[name].set_default_timeout(10_000)
        if user:
            contexts[name].add_cookies([session_cookie(user, site)])  # type: ignore[list-item]
    yield contexts
    for context in contexts.values():
        context.close()


def session_cookie(user: User, site: str) -> dict[str, str]:
    client = Client()
    client.force_login(user)
    session = client.session  # as if the password had just been typed
    session["account_authentication_methods"] = [
        {"method": "password", "at": time.time(), "reauthenticated": True}
    ]
    session.save()
    value = client.cookies[settings.SESSION_COOKIE_NAME].value
    return {"name": settings.SESSION_COOKIE_NAME, "value": value, "url": site}


def accessibility_faults(page: Page) -> list[str]:
    """What axe-core objects to, one line for each element."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    faults: list[str] = page.evaluate(FAULTS, RULES)
    return faults
