"""Recognizes browsers that signed in before, by a signed cookie that outlives the session.

Wrong passwords and codes of such a browser are counted apart, so that strangers who guess cannot
lock its owner out. A sign-in with any other browser is reported by email.
"""

import secrets
from dataclasses import dataclass

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

from accounts.code_services import find_holder

_SALT = "signin.known_browsers"
_LIFETIME = 400 * 86_400  # seconds; the longest life that browsers allow
_MAX_ACCOUNTS = 10


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser's random name, and the accounts that signed in with it, the latest first."""

    name: str
    accounts: tuple[str, ...]


def read_browser(request: HttpRequest) -> Browser | None:
    """Returns the browser of the cookie; None without a valid one."""
    cookie = request.COOKIES.get(settings.KNOWN_BROWSER_COOKIE, "")
    try:
        name, accounts = signing.loads(cookie, salt=_SALT, max_age=_LIFETIME)
    except (signing.BadSignature, ValueError):
        return None
    return Browser(str(name), tuple(accounts))


def is_known(request: HttpRequest, user_id: str) -> bool:
    """Tells whether the person has signed in with this browser before."""
    browser = read_browser(request)
    return browser is not None and _name_account(user_id) in browser.accounts


def find_name(request: HttpRequest, email: str) -> str | None:
    """Returns the name of the browser if it signed in before to the account of the address.

    Ignores an unconfirmed address that somebody added to another account.
    """
    browser = read_browser(request)
    holder = find_holder(email) if browser is not None else None
    if browser is None or holder is None:
        return None
    return browser.name if _name_account(holder.user.pk) in browser.accounts else None


def remember(request: HttpRequest, response: HttpResponse, user_id: str) -> None:
    """Sets the cookie after a complete sign-in."""
    browser = read_browser(request) or Browser(secrets.token_urlsafe(16), ())
    account = _name_account(user_id)
    others = [each for each in browser.accounts if each != account]
    accounts = [account, *others][:_MAX_ACCOUNTS]
    response.set_cookie(
        settings.KNOWN_BROWSER_COOKIE,
        signing.dumps([browser.name, accounts], salt=_SALT),
        max_age=_LIFETIME,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _name_account(user_id: str) -> str:
    """Returns the account as the cookie names it.

    An account without a confirmed address has another name, because its creator may lose it to the
    owner of the address. The browser then has to sign in again to be known.
    """
    is_confirmed = EmailAddress.objects.filter(user_id=user_id, verified=True).exists()
    return user_id if is_confirmed else f"{user_id}?"
