"""Sign-in codes sent by email, which confirm an address. The session stores the code's digest."""

import string
import time
from dataclasses import dataclass, field
from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, get_random_string, salted_hmac

from accounts.models import User
from accounts.session_store import hash_key

DIGITS = 6
LIFE = 600  # seconds; email is not always fast
TRIES = 5
STAY = 3600  # seconds; signing in makes the session longer
WITHOUT_MAIL = {
    "django.core.mail.backends.console.EmailBackend",
    "django.core.mail.backends.dummy.EmailBackend",
}
SIGN_IN, CONFIRM = "code_by_mail", "code_to_confirm"  # what a code is for: keys of the session


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """A sign-in that waits for its code.

    `name` is only set for a new account, and `password`, a hash, if its holder chose one.
    """

    email: str
    name: str
    password: str = field(default="", repr=False)


class WrongCode(Exception):
    """The code is wrong. After the last of `tries_left` the code ends."""

    def __init__(self, pending: PendingSignIn, tries_left: int) -> None:
        super().__init__()
        self.pending = pending
        self.tries_left = tries_left


class NoCode(Exception):
    """No code was sent, or it has ended."""


def can_send() -> bool:
    """Whether this service sends real email; a code that is only logged helps nobody."""
    return settings.EMAIL_BACKEND not in WITHOUT_MAIL


def find_confirming_address(user: User) -> str | None:
    """Returns the address for codes with which a signed-in person confirms who they are.

    None if the service cannot send email or no address of theirs is confirmed.
    """
    if not can_send():
        return None
    confirmed = EmailAddress.objects.filter(user_id=user.pk, verified=True)
    first = confirmed.order_by("-primary", "pk").first()
    return first.email if first else None


def new_code() -> str:
    """Returns a new code, which works only after `store_code`."""
    return get_random_string(DIGITS, string.digits)


def store_code(
    session: SessionBase, pending: PendingSignIn, code: str, purpose: str = SIGN_IN
) -> None:
    """Stores the code in the session in place of an earlier one for the same purpose."""
    if purpose == SIGN_IN:
        session.set_expiry(STAY)
    session[purpose] = {
        "email": pending.email,
        "name": pending.name,
        "password": pending.password,
        "digest": _digest(code),
        "until": time.time() + LIFE,
        "left": TRIES,
    }


def read_pending(session: SessionBase, purpose: str = SIGN_IN) -> PendingSignIn | None:
    """Returns what waits for a code in this browser."""
    saved = _read_saved(session, purpose)
    return _build_pending(saved) if saved else None


def redeem(request: HttpRequest, typed: str, purpose: str = SIGN_IN) -> PendingSignIn:
    """Checks one try. Raises WrongCode, NoCode.

    The session's row is locked meanwhile, so that out of a thousand tries at once only five count.
    """
    with transaction.atomic():
        key = request.session.session_key
        Session.objects.select_for_update().filter(pk=hash_key(key)).first()
        session = request.session = type(request.session)(key)
        saved = _read_saved(session, purpose)
        if saved is None:
            raise NoCode
        pending, tries_left = _build_pending(saved), saved["left"] - 1
        is_right = constant_time_compare(_digest(typed), saved["digest"])
        if is_right or not tries_left:
            del session[purpose]
        else:
            session[purpose] = {**saved, "left": tries_left}
        session.save()
        session.modified = False  # else a second save could overwrite a newer one
    if not is_right:
        raise WrongCode(pending, tries_left)
    return pending


def _read_saved(session: SessionBase, purpose: str) -> dict[str, Any] | None:
    saved: dict[str, Any] | None = session.get(purpose)
    return saved if saved and saved["until"] > time.time() else None


def _build_pending(saved: dict[str, Any]) -> PendingSignIn:
    return PendingSignIn(saved["email"], saved["name"], saved["password"])


def _digest(code: str) -> str:
    return salted_hmac("accounts.sign_in_codes", code).hexdigest()
