"""Signed in, and on a page of the dashboard."""

from accounts.models import User
from tests.browser.looking import session_cookie
from tests.browser.visitor import Visitor


def enter(visitor: Visitor, user: User, path: str) -> None:
    """Opens a page as somebody who has signed in before."""
    visitor.page.goto("/healthz")
    site = visitor.page.url.removesuffix("/healthz")
    visitor.page.context.add_cookies([session_cookie(user, site)])  # type: ignore[list-item]
    visitor.open(path)
