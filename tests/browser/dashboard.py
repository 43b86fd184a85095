"""Signed in, and on a page of the dashboard."""

from accounts.models import User
from tests.browser.contexts import sign_in
from tests.browser.visitor import Visitor


def enter(visitor: Visitor, user: User, path: str) -> None:
    """Opens a page as somebody who has signed in before."""
    visitor.page.goto("/healthz")
    site = visitor.page.url.removesuffix("/healthz")
    sign_in(visitor.page.context, user, site)
    visitor.open(path)
