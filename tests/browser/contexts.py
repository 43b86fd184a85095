"""Browser contexts: who is signed in, how large the screen is, and how long to wait for a page."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from playwright.sync_api import Browser, BrowserContext

from accounts.models import User
from tests.portal import confirmed
from tests.waiting import stretched

SIZES = {"phone": {"width": 390, "height": 844}, "desk": {"width": 1280, "height": 800}}


@contextmanager
def opened(
    browser: Browser, site: str, user: User | None = None, *, size: str = "phone", **options: Any
) -> Iterator[BrowserContext]:
    """A context that is closed in the end. The server knows the user; None is a stranger."""
    context = browser.new_context(**{"base_url": site, "viewport": SIZES[size], **options})
    context.set_default_timeout(stretched() * 1_000)
    try:
        if user:
            sign_in(context, user, site)
        yield context
    finally:
        context.close()


def sign_in(context: BrowserContext, user: User, site: str) -> None:
    """By a new session's cookie, without a page."""
    value = confirmed(user).cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": value, "url": site}])
