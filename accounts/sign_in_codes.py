"""A code sent by mail, which shows that an address is somebody's. It waits in their session."""

import string
import time
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, get_random_string, salted_hmac

DIGITS = 6
LIFE = 600  # seconds: mail is not always quick
TRIES = 5
STAY = 3600  # seconds: a stranger's session, which signing in makes a longer one
WITHOUT_MAIL = {
    "django.core.mail.backends.console.EmailBackend",
    "django.core.mail.backends.dummy.EmailBackend",
}
_PLACE = "code_by_mail"


@dataclass(frozen=True, slots=True)
class Claim:
    """Somebody says that `email` is theirs; `name` is a newcomer's, '' where none was asked for."""

    email: str
    name: str


class WrongCode(Exception):
    """`left` tries are left; after the last the code is worth nothing."""

    def __init__(self, claim: Claim, left: int) -> None:
        super().__init__()
        self.claim = claim
        self.left = left


class NoCode(Exception):
    """Nothing was sent, or it has ended."""


def are_sent() -> bool:
    """Whether mail leaves this service: in a log, a code is of no use to anybody."""
    return settings.EMAIL_BACKEND not in WITHOUT_MAIL


def new_code() -> str:
    """Worth nothing before it is expected."""
    return get_random_string(DIGITS, string.digits)


def expect(session: SessionBase, claim: Claim, code: str) -> None:
    """From now on this code counts, and none that was sent before."""
    session.set_expiry(STAY)
    session[_PLACE] = {
        "email": claim.email,
        "name": claim.name,
        "digest": _digest(code),
        "until": time.time() + LIFE,
        "left": TRIES,
    }


def read(session: SessionBase) -> Claim | None:
    """Who waits for a code in this browser."""
    kept = _kept(session)
    return Claim(kept["email"], kept["name"]) if kept else None


def redeem(request: HttpRequest, typed: str) -> Claim:
    """Looks at one try. Raises WrongCode, NoCode.

    The session's row is held meanwhile: of a thousand tries that are sent at once, five count.
    """
    with transaction.atomic():
        key = request.session.session_key
        Session.objects.select_for_update().filter(pk=key).first()
        session = request.session = type(request.session)(key)
        kept = _kept(session)
        if kept is None:
            raise NoCode
        claim, left = Claim(kept["email"], kept["name"]), kept["left"] - 1
        is_right = constant_time_compare(_digest(typed), kept["digest"])
        if is_right or not left:
            del session[_PLACE]
        else:
            session[_PLACE] = {**kept, "left": left}
        session.save()
        session.modified = False  # else it would be written again, when others have gone on
    if not is_right:
        raise WrongCode(claim, left)
    return claim


def _kept(session: SessionBase) -> dict[str, Any] | None:
    kept: dict[str, Any] | None = session.get(_PLACE)
    return kept if kept and kept["until"] > time.time() else None


def _digest(code: str) -> str:
    return salted_hmac("accounts.sign_in_codes", code).hexdigest()
