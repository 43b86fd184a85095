"""Sign-in codes sent by email, which confirm an address.

The session stores the code's digest, and a row of its own counts the tries.
"""

import string
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.db import connection
from django.db.models.functions import Now
from django.utils.crypto import constant_time_compare, get_random_string, salted_hmac

from accounts.models import EmailedCode, User

DIGITS = 6
LIFE = 600  # seconds; email is not always fast
TRIES = 5
STAY = 3600  # seconds; signing in makes the session longer
WITHOUT_MAIL = {
    "django.core.mail.backends.console.EmailBackend",
    "django.core.mail.backends.dummy.EmailBackend",
}
BATCH = 1_000
SIGN_IN, CONFIRM = "sign_in_code", "confirming_code"  # what a code is for: keys of the session
_TAKE_TRY = """
UPDATE accounts_emailedcode SET tries_left = tries_left - 1
 WHERE id = %s AND tries_left > 0 RETURNING tries_left
"""


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
    """Tells whether this service sends real email; a code in the log reaches nobody."""
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
    _end_code(session.get(purpose))
    session[purpose] = {
        "id": EmailedCode.objects.create(tries_left=TRIES).pk,
        "email": pending.email,
        "name": pending.name,
        "password": pending.password,
        "digest": _digest(code),
        "until": time.time() + LIFE,
    }


def read_pending(session: SessionBase, purpose: str = SIGN_IN) -> PendingSignIn | None:
    """Returns the sign-in of this browser that waits for a code."""
    saved = _read_saved(session, purpose)
    return _build_pending(saved) if saved else None


def redeem(session: SessionBase, typed: str, purpose: str = SIGN_IN) -> PendingSignIn:
    """Checks one try of a code. Raises WrongCode, NoCode.

    Of a thousand concurrent tries only five are checked, also if other requests write the session.
    """
    saved = _read_saved(session, purpose)
    tries_left = _take_try(saved["id"]) if saved else None
    if saved is None or tries_left is None:
        raise NoCode
    is_right = constant_time_compare(_digest(typed), saved["digest"])
    if is_right or not tries_left:
        if not _end_code(saved):
            raise NoCode  # the same code came twice at once: the session may have changed
        del session[purpose]
    if not is_right:
        raise WrongCode(_build_pending(saved), tries_left)
    return _build_pending(saved)


def forget_old() -> int:
    """Deletes up to BATCH codes that have ended; returns how many."""
    old = EmailedCode.objects.filter(created_at__lt=Now() - timedelta(seconds=STAY))
    removed, _ = EmailedCode.objects.filter(pk__in=old.values("pk")[:BATCH]).delete()
    return removed


def _take_try(code_id: str) -> int | None:
    """Takes one try; returns how many are left, None if the code has ended."""
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_TRY, [code_id])
        row = cursor.fetchone()
    return int(row[0]) if row else None


def _end_code(saved: Mapping[str, Any] | None) -> bool:
    """Ends a code; returns False if it has ended before."""
    return bool(saved and EmailedCode.objects.filter(pk=saved["id"]).delete()[0])


def _read_saved(session: SessionBase, purpose: str) -> dict[str, Any] | None:
    saved: dict[str, Any] | None = session.get(purpose)
    return saved if saved and saved["until"] > time.time() else None


def _build_pending(saved: dict[str, Any]) -> PendingSignIn:
    return PendingSignIn(saved["email"], saved["name"], saved["password"])


def _digest(code: str) -> str:
    return salted_hmac("accounts.sign_in_codes", code).hexdigest()
