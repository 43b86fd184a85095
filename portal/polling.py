"""Endpoints that open pages poll for changes. Most responses are an empty 204.

A thousand open inboxes poll hundreds of times a second. So these calls load neither session nor
person, and web.middleware.PollingMiddleware lets them skip the other middleware. The page has a
signed token instead: it names the person, expires, and is bound to the session cookie. Each call
costs one statement, which reads the memberships active at that time.
"""

import hashlib
import time
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.contrib.sessions.models import Session
from django.core import signing
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from accounts.session_store import hash_key
from portal.inbox_filter import InboxFilter
from reviews.lifecycle.conditions import lapsed, overdue
from reviews.lifecycle.settling import read_settled, scope_to_request
from reviews.lifecycle.states import CLAIMED, PENDING
from reviews.queries.queue import MINE, build_first_sql, build_scope

MAX_ROWS = 100  # more than a page of the inbox has
TOKEN_LIFETIME = 12 * 3600  # seconds
HEADER = "HTTP_X_WATCH"
_SALT = "portal.live"
_MAX_EPOCH = 1e11

# The parts of the inbox, each of a bounded cost: the first MAX_ROWS open requests; the time of the
# newest request if there may be more; the holders of claimed requests (of the most urgent MAX_ROWS
# in each loop). The other columns are the time, and whether a request is due.
_INBOX_VERSION = f"""
WITH mine AS MATERIALIZED ({MINE})
SELECT concat_ws('-',
       (SELECT md5(string_agg(id, '')) || CASE WHEN count(*) = {MAX_ROWS} THEN (
               SELECT (extract(epoch FROM max(created_at)) * 1000000)::bigint::text FROM mine
                CROSS JOIN LATERAL (SELECT created_at FROM reviews_request
                                     WHERE loop_id = mine.loop_id
                                     ORDER BY created_at DESC, id DESC LIMIT 1) AS newest)
               ELSE '' END
          FROM ({build_first_sql(MAX_ROWS, mine="mine")}) AS shown),
       (SELECT md5(string_agg(id || claimed_by_id, '' ORDER BY id)) FROM mine
         CROSS JOIN LATERAL (SELECT id, claimed_by_id
                               FROM reviews_request
                              WHERE loop_id = mine.loop_id AND status = 'claimed'
                              ORDER BY priority_rank DESC, created_at DESC, id DESC
                              LIMIT {MAX_ROWS}) AS r)),
       extract(epoch FROM statement_timestamp())::float,
       {build_scope("", None, mine="mine").is_due}
"""  # noqa: S608 (nothing in it comes from outside)
_ROWS = f"""
SELECT id, CASE WHEN r.status = 'pending' THEN '' WHEN r.claimed_by_id = user_id THEN 'you'
                ELSE (SELECT coalesce(nullif(name, ''), split_part(email, '@', 1))
                        FROM accounts_user WHERE id = r.claimed_by_id) END
  FROM ({build_first_sql(MAX_ROWS)}) AS shown JOIN reviews_request r USING (id)
 ORDER BY r.priority_rank DESC, r.timeout_at, id"""  # noqa: S608
# Of the newest MAX_ROWS of each loop. The condition of the filter takes the place of `{matches}`.
_NEW = f"""
SELECT count(*) FROM (
    SELECT FROM ({MINE}) AS mine
     CROSS JOIN (VALUES ('pending'), ('claimed')) AS open (status)
     CROSS JOIN LATERAL (
           SELECT id, response_type FROM reviews_request r
            WHERE r.loop_id = mine.loop_id AND r.status = open.status
              AND r.created_at > to_timestamp(%(since)s)
              AND (r.policy IS NULL OR mine.user_id = ANY (r.eligible))
            ORDER BY r.created_at DESC, r.id DESC LIMIT {MAX_ROWS}) AS r
     WHERE {{matches}} LIMIT {MAX_ROWS}) AS counted"""  # noqa: S608
# A person may replace an answer, which others see only if the policy is not blind.
_QUESTION = f"""
SELECT r.status, r.claimed_by_id, r.answers_received,
       CASE WHEN NOT (r.policy ->> 'blind')::boolean
            THEN (SELECT max(answered_at) FROM reviews_answer WHERE request_id = r.id) END,
       {overdue()} OR {lapsed()}
  FROM reviews_request r JOIN ({MINE}) AS mine USING (loop_id) WHERE r.id = %(id)s"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class InboxVersion:
    """The version of an inbox: `fingerprint` changes with what the inbox shows.

    `read_at` is when it was read, by the database's clock, in seconds of the epoch.
    """

    fingerprint: str
    read_at: float


def inbox(request: HttpRequest) -> HttpResponse:
    """Returns 204, or `{version, new, rows: {id: holder}}` of the first MAX_ROWS open requests.

    `new` counts open requests that match the filter and were created after `since` (seconds of the
    epoch), up to MAX_ROWS. 403 means that the page must be loaded again.
    """
    user_id = read_token(request)
    if user_id is None:
        return HttpResponse(status=403)
    chosen = InboxFilter.read(request)
    current = read_inbox_version(user_id, chosen.loop or None).fingerprint
    if current == request.GET.get("v"):
        return HttpResponse(status=204)
    if not is_signed_in(request):
        return HttpResponse(status=403)
    since = read_moment(request.GET.get("since", ""))
    params = {**chosen.build_params(user_id), "since": since}
    with connection.cursor() as cursor:
        cursor.execute(_ROWS, params)
        rows = dict(cursor.fetchall())
        cursor.execute(_NEW.format(matches=chosen.build_sql()), params)
        (new,) = cursor.fetchone()
    return JsonResponse({"version": current, "new": new, "rows": rows})


def read_inbox_version(user_id: str, loop_id: str | None) -> InboxVersion:
    """Reads the version of an inbox in one statement, plus those that settle due requests."""
    inbox_scope = build_scope(user_id, loop_id)

    def read() -> tuple[InboxVersion, bool]:
        with connection.cursor() as cursor:
            cursor.execute(_INBOX_VERSION, inbox_scope.params)
            fingerprint, read_at, is_due = cursor.fetchone()
        return InboxVersion(fingerprint, read_at), is_due

    return read_settled(inbox_scope, read)


def question(request: HttpRequest, request_id: str) -> HttpResponse:
    """Returns 204 while the question's page is current, 200 if it changed, 404 if it is gone."""
    user_id = read_token(request)
    if user_id is None:
        return HttpResponse(status=403)
    current = read_version(request_id, user_id)
    if current is None:
        return HttpResponse(status=404)
    if current == request.GET.get("v"):
        return HttpResponse(status=204)
    return HttpResponse(status=200 if is_signed_in(request) else 403)


def read_version(request_id: str, user_id: str) -> str | None:
    """Returns the version of a question that the person may see. One statement if it is not due."""
    params = {"person": user_id, "loop": None, "id": request_id}

    def read() -> tuple[str | None, bool]:
        with connection.cursor() as cursor:
            cursor.execute(_QUESTION, params)
            row = cursor.fetchone()
        return (format_version(*row[:-1]), row[-1]) if row else (None, False)

    return read_settled(scope_to_request(request_id), read)


def format_version(
    status: str, holder_id: str | None, received: int, latest: datetime | None
) -> str:
    """Returns the version that polling compares: the status, the holder of a claim, how many
    answers a policy has received, and the time of the latest one that others may see."""
    if status == PENDING and received:
        return f"{status}-{received}-{latest.timestamp()}" if latest else f"{status}-{received}"
    return f"{status}-{holder_id}" if status == CLAIMED else status


def read_moment(text: str) -> float:
    """Reads seconds of the epoch; the current time if the text is invalid."""
    try:
        seconds = float(text)
    except ValueError:
        return time.time()
    return seconds if 0 <= seconds < _MAX_EPOCH else time.time()


def issue_token(request: HttpRequest) -> str:
    """Issues a token for a page of the signed-in person."""
    return signing.dumps([request.user.pk, _hash_cookie(request)], salt=_SALT)


def read_token(request: HttpRequest) -> str | None:
    """Returns the id of the person; None for a token missing, expired or of another session."""
    try:
        user_id, session = signing.loads(
            request.META.get(HEADER, ""), salt=_SALT, max_age=TOKEN_LIFETIME
        )
    except (signing.BadSignature, ValueError):
        return None
    return str(user_id) if session == _hash_cookie(request) else None


def is_signed_in(request: HttpRequest) -> bool:
    """Tells whether the session is still valid; checked only if there is a change to report."""
    living = Session.objects.filter(expire_date__gt=timezone.now())
    return living.filter(session_key=hash_key(_read_cookie(request))).exists()


def _read_cookie(request: HttpRequest) -> str:
    return request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")


def _hash_cookie(request: HttpRequest) -> str:
    cookie = _read_cookie(request)
    return hashlib.sha256(cookie.encode()).hexdigest()[:16]
