"""Where somebody is signed in, and ending that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils.module_loading import import_string

from accounts.audit import record
from accounts.user_agent import browser_name

MAX_SESSIONS = 50
BATCH = 1_000


@dataclass(frozen=True, slots=True)
class SignedIn:
    """One browser. `pk` names it in a form: the session's own key is a secret."""

    pk: int
    browser: str
    ip: str
    since: datetime
    is_current: bool


def read_sessions(user_id: str, *, current: str | None) -> list[SignedIn]:
    """The browsers that are signed in, this one first and then the newest; at most 50."""
    rows = [
        SignedIn(
            pk=row.pk,
            browser=browser_name(row.user_agent),
            ip=row.ip,
            since=row.created_at,
            is_current=row.session_key == current,
        )
        for row in _living(user_id).order_by("-created_at", "-pk")[:MAX_SESSIONS]
    ]
    return sorted(rows, key=lambda row: not row.is_current)


def ensure_listed(request: HttpRequest) -> None:
    """Gives this browser's session its line, unless it has one."""
    if not UserSession.objects.filter(session_key=request.session.session_key).exists():
        UserSession.objects.create_from_request(request)


@transaction.atomic
def admit(request: HttpRequest, user_id: str) -> None:
    """Lists a browser that has just signed in. What has expired leaves the list, and beyond 50
    browsers the oldest are signed out: a program that signs in again and again fills nothing."""
    request.session.set_expiry(None)  # it may have been a stranger's, which ends within the hour
    UserSession.objects.create_from_request(request)
    kept = (
        _living(user_id).order_by("-created_at", "-pk").values_list("pk", flat=True)[:MAX_SESSIONS]
    )
    gone = UserSession.objects.filter(user_id=user_id).exclude(pk__in=list(kept))
    found = list(gone.values_list("session_key", flat=True))
    if found:
        gone.delete()
        _end(user_id, found)


def count_sessions(user_id: str) -> int:
    """How many browsers are signed in."""
    return int(_living(user_id).count())


@transaction.atomic
def end_sessions(user_id: str, *, but: str | None, only: int | None = None) -> int:
    """Signs out every browser but the one whose session key is `but`, or only one; how many.
    Without `only`, what belongs to browsers that are not signed in any more is forgotten too."""
    rows = UserSession.objects.filter(user_id=user_id).exclude(session_key=but)
    if only is not None:
        rows = rows.filter(pk=only)
    found = list(rows.values_list("pk", "session_key"))
    left = None if only is not None else _read(but)
    ended = _end(user_id, [key for _, key in found], only_left=left)
    UserSession.objects.filter(pk__in=[pk for pk, _ in found]).delete()
    if ended:
        subject = "" if ended == 1 else f"{ended} of them"
        record(
            account_id=user_id, actor_id=user_id, action="sign_in.session_ended", subject=subject
        )
    return ended


def tell_ended(
    user_id: str,
    sessions: Sequence[Mapping[str, Any]],
    only_left: Mapping[str, Any] | None = None,
) -> None:
    """Lets the rooms above forget what belongs to browsers that are signed out: what each session
    holds. One that runs out by itself was not signed out. `only_left` is what the one session
    holds that stays where all others end, empty where none stays."""
    for name in settings.ON_SIGN_OUT:
        import_string(name)(user_id=user_id, sessions=sessions, only_left=only_left)


def remove_expired() -> int:
    """Removes sessions that have ended by themselves, a thousand at most; returns how many."""
    ended = Session.objects.filter(expire_date__lt=Now()).values("session_key")[:BATCH]
    return int(Session.objects.filter(session_key__in=ended).delete()[0])


def _end(
    user_id: str, session_keys: Sequence[str], only_left: Mapping[str, Any] | None = None
) -> int:
    """Removes the sessions, and returns how many there were."""
    rows = Session.objects.filter(session_key__in=session_keys)
    living = rows.filter(expire_date__gt=Now())
    tell_ended(user_id, [row.get_decoded() for row in living], only_left)
    return int(rows.delete()[0])


def _read(session_key: str | None) -> dict[str, Any]:
    row = Session.objects.filter(session_key=session_key).first() if session_key else None
    return row.get_decoded() if row else {}


def _living(user_id: str) -> Any:
    standing = Session.objects.filter(expire_date__gt=Now()).values("session_key")
    return UserSession.objects.filter(user_id=user_id, session_key__in=standing)
