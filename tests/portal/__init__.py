"""The portal as a browser without scripts sees it."""

import html
import re
from typing import Any

from allauth.account.internal.flows.login import record_authentication
from django.http import HttpRequest
from django.test import Client

from accounts.models import User
from accounts.services import create_account


def signed_in(user: User, **options: Any) -> Client:
    """The browser of this person, who has just signed in with the password."""
    browser = long_signed_in(user, **options)
    http = HttpRequest()
    http.session, http.user = browser.session, user
    record_authentication(http, user, method="password")
    http.session.save()
    return browser


def long_signed_in(user: User, **options: Any) -> Client:
    """The browser of this person, who signed in long ago."""
    browser = Client(**options)
    browser.force_login(user)
    return browser


def unconfirmed(*, email: str, name: str, password: str) -> Client:
    """The browser of somebody who signed up before the service sent email."""
    create_account(email=email, name=name, password=password)
    browser = Client()
    browser.post("/accounts/login/", {"login": email, "password": password})
    return browser


def confirmed(user: User) -> Client:
    """The browser of this person, who has just confirmed who they are."""
    return signed_in(user)


def words(answer: Any) -> str:
    """What stands on the page, tags and doubled blanks aside."""
    text = re.sub(r"</?bdi[^>]*>", "", answer.content.decode())
    text = re.sub(r"<[^>]*>", " ", text)
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
