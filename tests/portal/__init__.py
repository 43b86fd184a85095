"""The portal as a browser without scripts sees it."""

import html
import re
from typing import Any

from allauth.account.internal.flows.reauthentication import reauthenticate_by_password
from django.http import HttpRequest
from django.test import Client

from accounts.models import User


def signed_in(user: User, **options: Any) -> Client:
    """The browser of this person."""
    browser = Client(**options)
    browser.force_login(user)
    return browser


def confirmed(user: User) -> Client:
    """The browser of this person, who has just typed the password once more."""
    browser = signed_in(user)
    http = HttpRequest()
    http.session, http.user = browser.session, user
    reauthenticate_by_password(http)
    http.session.save()
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
