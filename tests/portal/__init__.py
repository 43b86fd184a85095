"""The portal as a browser without scripts sees it."""

import html
import re
from typing import Any

from django.test import Client

from accounts.models import User
from tests.conftest import PASSWORD


def signed_in(user: User, **options: Any) -> Client:
    """The browser of this person."""
    browser = Client(**options)
    browser.force_login(user)
    return browser


def confirmed(user: User) -> Client:
    """The browser of this person, who has just typed the password once more, if there is one."""
    browser = signed_in(user)
    if not user.has_usable_password():
        return browser
    assert browser.post("/accounts/reauthenticate/", {"password": PASSWORD}).status_code == 302
    return browser


def words(answer: Any) -> str:
    """What stands on the page, tags and doubled blanks aside."""
    text = re.sub(r"<[^>]*>", " ", answer.content.decode())
    return " ".join(html.unescape(text).split())


def controls(answer: Any) -> list[str]:
    """The form controls called `answer`, as they were sent."""
    found: list[str] = re.findall(
        r'<(?:input|textarea)[^>]*name="answer"[^>]*>', answer.content.decode()
    )
    return found


def attribute(answer: Any, name: str) -> str:
    """The first value of an attribute on the page; '' for none."""
    found = re.search(rf'{name}="([^"]*)"', answer.content.decode())
    return html.unescape(found[1]) if found else ""
