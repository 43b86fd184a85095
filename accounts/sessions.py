"""Lists and ends the signed-in sessions of a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils.module_loading import import_string

from accounts import session_store
from accounts.audit import record
from accounts.models import User
from accounts.session_store import SessionStore, hash_key
from accounts.user_agent import format_browser
from web.languages import translate

MAX_SESSIONS = 50
BATCH = 1_000


@dataclass(frozen=True, slots=True)
class SignedInBrowser:
    """A signed-in browser. Forms name it by `pk`, because the session key is a secret."""

    pk: int
    browser: str
    ip: str
    since: datetime
    is_current: bool


@dataclass(frozen=True, slots=True)
class SignIn:
    """The person and the session of a request."""

    user_id: str
    password: str
    session_key: str  # hashed

    @classmethod
    def of(cls, request: HttpRequest) -> "SignIn":
        """Returns the sign-in of a request of a signed-in person."""
        user: Any = request.user
        return cls(user.pk, user.password, hash_key(request.session.session_key))

    def is_valid(self) -> bool:
        """Tells in one query whether session, account and password are still the same."""
        session = Session.objects.filter(pk=self.session_key, expire_date__gt=Now())
        person = User.objects.filter(pk=self.user_id, password=self.password, is_active=True)
        return bool(person.filter(Exists(session)).exists())


def read_sessions(user_id: str, *, current: str | None) -> list[SignedInBrowser]:
    """Reads the signed-in browsers, the current one first, then the newest; at most 50."""
    rows = [
        SignedInBrowser(
            pk=row.pk,
            browser=translate(format_browser(row.user_agent)),
            ip=row.ip,
            since=row.created_at,
            is_current=row.session_key == hash_key(current),
        )
        for row in _select_active(user_id).order_by("-created_at", "-pk")[:MAX_SESSIONS]
    ]
    return sorted(rows, key=lambda row: not row.is_current)


def ensure_listed(request: HttpRequest) -> None:
    """Adds the session of this browser to the list if it is missing."""
    if not UserSession.objects.filter(session_key=hash_key(request.session.session_key)).exists():
        _list_session(request)


@transaction.atomic
def register_session(request: HttpRequest, user_id: str) -> None:
    """Adds a browser that has just signed in to the list, and removes expired ones.

    Beyond 50 browsers the oldest are signed out, so that a program that signs in again and again
    cannot fill the table.
    """
    request.session.set_expiry(None)  # before the sign-in, the session could end within an hour
    session_store.begin(request.session)
    _list_session(request)
    newest = (
        _select_active(user_id)
        .order_by("-created_at", "-pk")
        .values_list("pk", flat=True)[:MAX_SESSIONS]
    )
    excess = UserSession.objects.filter(user_id=user_id).exclude(pk__in=list(newest))
    session_keys = list(excess.values_list("session_key", flat=True))
    if session_keys:
        excess.delete()
        _delete_sessions(user_id, session_keys)


def count_sessions(user_id: str) -> int:
    """Counts the signed-in browsers."""
    return int(_select_active(user_id).count())


@transaction.atomic
def end_sessions(user_id: str, *, except_key: str | None, only: int | None = None) -> int:
    """Signs out all browsers, or `only` one, except the one with the session key `except_key`.

    Returns how many were signed out. Without `only`, this also removes the data of browsers that
    are no longer signed in.
    """
    rows = UserSession.objects.filter(user_id=user_id).exclude(session_key=hash_key(except_key))
    if only is not None:
        rows = rows.filter(pk=only)
    pairs = list(rows.values_list("pk", "session_key"))
    remaining = None if only is not None else _read(except_key)
    ended = _delete_sessions(user_id, [key for _, key in pairs], remaining)
    UserSession.objects.filter(pk__in=[pk for pk, _ in pairs]).delete()
    if ended:
        subject = "" if ended == 1 else f"{ended} of them"
        record(
            account_id=user_id, actor_id=user_id, action="sign_in.session_ended", subject=subject
        )
    return ended


def notify_sign_out(
    user_id: str,
    sessions: Sequence[Mapping[str, Any]],
    remaining: Mapping[str, Any] | None = None,
) -> None:
    """Calls the handlers in ON_SIGN_OUT, which remove the data of signed-out browsers.

    `sessions` are the contents of the ended sessions; an expired session does not count. If all
    other sessions end, `remaining` is the content of the one that stays, or empty if none stays.
    """
    for name in settings.ON_SIGN_OUT:
        import_string(name)(user_id=user_id, sessions=sessions, remaining=remaining)


def remove_expired() -> int:
    """Removes up to a thousand expired sessions; returns how many."""
    expired = Session.objects.filter(expire_date__lt=Now()).values("session_key")[:BATCH]
    return int(Session.objects.filter(session_key__in=expired).delete()[0])


def _list_session(request: HttpRequest) -> None:
    """Writes the row that the list of sessions shows; like the session, under the hashed key."""
    if not request.session.session_key:
        request.session.save()
    longest = UserSession._meta.get_field("user_agent").max_length
    UserSession.objects.update_or_create(
        session_key=hash_key(request.session.session_key),
        defaults={
            "user": request.user,
            "ip": request.META["REMOTE_ADDR"],
            "user_agent": request.META.get("HTTP_USER_AGENT", "")[:longest],
        },
    )


def _delete_sessions(
    user_id: str, session_keys: Sequence[str], remaining: Mapping[str, Any] | None = None
) -> int:
    """Deletes the sessions; returns how many there were."""
    rows = Session.objects.filter(session_key__in=session_keys)
    active = rows.filter(expire_date__gt=Now())
    contents = [SessionStore().decode(row.session_data) for row in active]
    notify_sign_out(user_id, contents, remaining)
    return int(rows.delete()[0])


def _read(session_key: str | None) -> dict[str, Any]:
    row = Session.objects.filter(session_key=hash_key(session_key)).first()
    return SessionStore().decode(row.session_data) if row else {}


def _select_active(user_id: str) -> Any:
    unexpired = Session.objects.filter(expire_date__gt=Now()).values("session_key")
    return UserSession.objects.filter(user_id=user_id, session_key__in=unexpired)
