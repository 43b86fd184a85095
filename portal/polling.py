"""What open pages ask again and again: has anything changed? Mostly it is 204, and nothing else.

A thousand open inboxes ask hundreds of times a second. So there is no session to load and no
person, and web.middleware.PollingMiddleware lets these calls past the rest: the page carries a
token of ours, which names the person, runs out, and belongs to the session cookie that it was
issued beside. One statement answers, and it looks at the memberships that are active then.
"""

import hashlib
import time

from django.conf import settings
from django.contrib.sessions.models import Session
from django.core import signing
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from db.ids import normalize_id
from portal.queue import MINE, first, scope
from reviews.lifecycle.conditions import lapsed, overdue
from reviews.lifecycle.settling import read_settled, scope_to_request
from reviews.lifecycle.states import CLAIMED

MAX_ROWS = 100  # as many as a page of the inbox has, and more
LASTS = 12 * 3600  # seconds
HEADER = "HTTP_X_WATCH"
_SALT = "portal.live"
_FAR = 1e11

# The first that wait; when the newest question came, where more may wait than that; and who holds
# what (in a loop where more than MAX_ROWS are held at once, the most urgent of them). Nothing else
# is to be seen, and none of the three costs more where much waits. And whether anything is due.
_FINGERPRINT = f"""
WITH mine AS MATERIALIZED ({MINE})
SELECT concat_ws('-',
       (SELECT md5(string_agg(id, '')) || CASE WHEN count(*) = {MAX_ROWS} THEN (
               SELECT (extract(epoch FROM max(created_at)) * 1000000)::bigint::text FROM mine
                CROSS JOIN LATERAL (SELECT created_at FROM reviews_request
                                     WHERE loop_id = mine.loop_id
                                     ORDER BY created_at DESC, id DESC LIMIT 1) AS newest)
               ELSE '' END
          FROM ({first(MAX_ROWS, mine="mine")}) AS shown),
       (SELECT md5(string_agg(id || claimed_by_id, '' ORDER BY id)) FROM mine
         CROSS JOIN LATERAL (SELECT id, claimed_by_id
                               FROM reviews_request
                              WHERE loop_id = mine.loop_id AND status = 'claimed'
                              ORDER BY priority_rank DESC, created_at DESC, id DESC
                              LIMIT {MAX_ROWS}) AS r)),
       {scope("", None, mine="mine").is_due}
"""  # noqa: S608 (nothing in it comes from outside)
_ROWS = f"""
SELECT id, CASE WHEN r.status = 'pending' THEN '' WHEN r.claimed_by_id = user_id THEN 'you'
                ELSE (SELECT coalesce(nullif(name, ''), split_part(email, '@', 1))
                        FROM accounts_user WHERE id = r.claimed_by_id) END
  FROM ({first(MAX_ROWS)}) AS shown JOIN reviews_request r USING (id)
 ORDER BY r.priority_rank DESC, r.timeout_at, id"""  # noqa: S608
_NEW = f"""
SELECT count(*) FROM (
    SELECT FROM ({MINE}) AS mine
     CROSS JOIN (VALUES ('pending'), ('claimed')) AS open (status)
     CROSS JOIN LATERAL (
           SELECT FROM reviews_request r
            WHERE r.loop_id = mine.loop_id AND r.status = open.status
              AND r.created_at > to_timestamp(%(since)s)
            LIMIT {MAX_ROWS}) AS new LIMIT {MAX_ROWS}) AS counted"""  # noqa: S608
_QUESTION = f"""
SELECT r.status, r.claimed_by_id, {overdue()} OR {lapsed()}
  FROM reviews_request r JOIN ({MINE}) AS mine USING (loop_id) WHERE r.id = %(id)s"""  # noqa: S608


def inbox(request: HttpRequest) -> HttpResponse:
    """204, or `{version, new, rows: {id: who holds it}}` of the first that wait: `new` counts what
    waits and was made after `since`, in seconds of the epoch; it ends at MAX_ROWS, as the rows
    do. 403 where the page must be loaded anew."""
    user_id = read_token(request)
    if user_id is None:
        return HttpResponse(status=403)
    loop_id = normalize_id(request.GET.get("loop", ""))
    current = fingerprint(user_id, loop_id)
    if current == request.GET.get("v"):
        return HttpResponse(status=204)
    if not is_signed_in(request):
        return HttpResponse(status=403)
    asked = {"person": user_id, "loop": loop_id, "since": moment(request.GET.get("since", ""))}
    with connection.cursor() as cursor:
        cursor.execute(_ROWS, asked)
        rows = dict(cursor.fetchall())
        cursor.execute(_NEW, asked)
        (new,) = cursor.fetchone()
    return JsonResponse({"version": current, "new": new, "rows": rows})


def fingerprint(user_id: str, loop_id: str | None) -> str:
    """What `inbox` compares with. One statement, where nothing is due; it settles what is."""
    asked = scope(user_id, loop_id)

    def read() -> tuple[str, bool]:
        with connection.cursor() as cursor:
            cursor.execute(_FINGERPRINT, asked.params)
            current, is_due = cursor.fetchone()
        return str(current), is_due

    return read_settled(asked, read)


def question(request: HttpRequest, request_id: str) -> HttpResponse:
    """204 while the question is what its page shows, 200 once it is not, 404 where it is gone."""
    user_id = read_token(request)
    if user_id is None:
        return HttpResponse(status=403)
    current = state_of(request_id, user_id)
    if current is None:
        return HttpResponse(status=404)
    if current == request.GET.get("v"):
        return HttpResponse(status=204)
    return HttpResponse(status=200 if is_signed_in(request) else 403)


def state_of(request_id: str, user_id: str) -> str | None:
    """The version of a question that the person may see. One statement, where it is not due."""
    params = {"person": user_id, "loop": None, "id": request_id}

    def read() -> tuple[str | None, bool]:
        with connection.cursor() as cursor:
            cursor.execute(_QUESTION, params)
            row = cursor.fetchone()
        return (version(*row[:2]), row[2]) if row else (None, False)

    return read_settled(scope_to_request(request_id), read)


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


def token(request: HttpRequest) -> str:
    """For a page of whoever is signed in."""
    return signing.dumps([request.user.pk, _session(request)], salt=_SALT)


def read_token(request: HttpRequest) -> str | None:
    """The id of the person; None for a token of another session, an old one, or none."""
    try:
        user_id, session = signing.loads(request.META.get(HEADER, ""), salt=_SALT, max_age=LASTS)
    except (signing.BadSignature, ValueError):
        return None
    return str(user_id) if session == _session(request) else None


def is_signed_in(request: HttpRequest) -> bool:
    """Whether the session still lives; asked only where there is something to tell."""
    living = Session.objects.filter(expire_date__gt=timezone.now())
    return living.filter(session_key=_cookie(request)).exists()


def _cookie(request: HttpRequest) -> str:
    return request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")


def _session(request: HttpRequest) -> str:
    cookie = _cookie(request)
    return hashlib.sha256(cookie.encode()).hexdigest()[:16]
