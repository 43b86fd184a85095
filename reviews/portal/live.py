"""What open pages ask again and again: has anything changed? Mostly it is 204, and nothing else.

A thousand open inboxes ask hundreds of times a second. So there is no session to load and no
person, and config.middleware.LightMiddleware lets these calls past the rest: the page carries a
token of ours, which names the person, runs out, and belongs to the session cookie that it was
issued beside. One statement answers, and it looks at the memberships that are active then.
"""

import hashlib
import time
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.core import signing
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from config.ids import normalize_id
from reviews.states import CLAIMED

MOST_ROWS = 100  # as many as a page of the inbox has, and more
LASTS = 12 * 3600  # seconds
HEADER = "HTTP_X_WATCH"
_SALT = "portal.live"
_FAR = 1e11

_MINE = """
  FROM loops_membership m
  JOIN loops_loop l ON l.id = m.loop_id AND l.deleted_at IS NULL
  JOIN accounts_user u ON u.id = m.user_id AND u.is_active
  JOIN reviews_request r ON r.loop_id = m.loop_id
 WHERE m.user_id = %(user)s AND m.status = 'active'
"""
_HELD = "r.status = 'claimed' AND r.claim_expires_at > statement_timestamp()"
_WAITING = f"""{_MINE} AND r.status IN ('pending', 'claimed')
   AND r.timeout_at > statement_timestamp() AND (%(loop)s::text IS NULL OR m.loop_id = %(loop)s)"""
_FINGERPRINT = f"""
SELECT concat_ws('-', count(*), count(*) FILTER (WHERE {_HELD}),
       (extract(epoch FROM max(r.updated_at)) * 1000000)::bigint)
{_WAITING}"""  # noqa: S608 (nothing in it comes from outside)
_ROWS = f"""
SELECT r.id, r.created_at > to_timestamp(%(since)s),
       CASE WHEN ({_HELD}) IS NOT TRUE THEN '' WHEN r.claimed_by_id = m.user_id THEN 'you'
            ELSE (SELECT coalesce(nullif(name, ''), split_part(email, '@', 1))
                    FROM accounts_user WHERE id = r.claimed_by_id) END
{_WAITING} ORDER BY r.priority_rank DESC, r.timeout_at, r.id LIMIT {MOST_ROWS}"""  # noqa: S608
_QUESTION = f"""
SELECT CASE WHEN r.status NOT IN ('pending', 'claimed') THEN r.status
            WHEN r.timeout_at <= statement_timestamp() THEN 'timeout'
            WHEN {_HELD} THEN 'claimed' ELSE 'pending' END, r.claimed_by_id
{_MINE} AND r.id = %(request)s"""


def inbox(http: HttpRequest) -> HttpResponse:
    """204, or `{version, new, rows: {id: who holds it}}` of what waits: `new` counts what was
    made after `since`, in seconds of the epoch. 403 where the page must be loaded anew."""
    user_id = read_token(http)
    if user_id is None:
        return HttpResponse(status=403)
    asked: dict[str, Any] = {"user": user_id, "loop": normalize_id(http.GET.get("loop", ""))}
    with connection.cursor() as cursor:
        cursor.execute(_FINGERPRINT, asked)
        (current,) = cursor.fetchone()
        if current == http.GET.get("v"):
            return HttpResponse(status=204)
        if not is_signed_in(http):
            return HttpResponse(status=403)
        cursor.execute(_ROWS, {**asked, "since": moment(http.GET.get("since", ""))})
        rows = cursor.fetchall()
    return JsonResponse(
        {
            "version": current,
            "new": sum(is_new for _, is_new, _ in rows),
            "rows": {request_id: holder for request_id, _, holder in rows},
        }
    )


def fingerprint(user_id: str, loop_id: str | None) -> str:
    """What `inbox` compares with. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(_FINGERPRINT, {"user": user_id, "loop": loop_id})
        return str(cursor.fetchone()[0])


def question(http: HttpRequest, request_id: str) -> HttpResponse:
    """204 while the question is what its page shows, 200 once it is not, 404 where it is gone."""
    user_id, known = read_token(http), normalize_id(request_id)
    if user_id is None:
        return HttpResponse(status=403)
    with connection.cursor() as cursor:
        cursor.execute(_QUESTION, {"user": user_id, "request": known})
        row = cursor.fetchone()
    if row is None:
        return HttpResponse(status=404)
    return HttpResponse(status=204 if version(*row) == http.GET.get("v") else 200)


def version(status: str, holder_id: str | None) -> str:
    """What there is to see of a question from outside: final states never change again."""
    return f"{status}-{holder_id}" if status == CLAIMED else status


def moment(text: str) -> float:
    """Seconds of the epoch; now, where it is none."""
    try:
        seconds = float(text)
    except ValueError:
        return time.time()
    return seconds if 0 <= seconds < _FAR else time.time()


def token(http: HttpRequest) -> str:
    """For a page of whoever is signed in."""
    return signing.dumps([http.user.pk, _session(http)], salt=_SALT)


def read_token(http: HttpRequest) -> str | None:
    """The id of the person; None for a token of another session, an old one, or none."""
    try:
        user_id, session = signing.loads(http.META.get(HEADER, ""), salt=_SALT, max_age=LASTS)
    except (signing.BadSignature, ValueError):
        return None
    return str(user_id) if session == _session(http) else None


def is_signed_in(http: HttpRequest) -> bool:
    """Whether the session still lives; asked only where there is something to tell."""
    living = Session.objects.filter(expire_date__gt=timezone.now())
    return living.filter(session_key=_cookie(http)).exists()


def _cookie(http: HttpRequest) -> str:
    return http.COOKIES.get(settings.SESSION_COOKIE_NAME, "")


def _session(http: HttpRequest) -> str:
    cookie = _cookie(http)
    return hashlib.sha256(cookie.encode()).hexdigest()[:16]
