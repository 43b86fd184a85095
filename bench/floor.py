"""The minimal cost of a poll, a create and a list on this server and database.

Plain Django views with hand-written SQL, without middleware or framework: one statement looks the
key up and counts the call, and then the call does what the contract demands. Input is hardly
checked, errors have no sentences, and the list has no total. The server is a bare granian, in which
slow clients occupy threads.
"""

import hashlib
import json
from typing import Any

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import re_path
from django.views.decorators.csrf import csrf_exempt
from psycopg.types.json import Json

from db.ids import owned_id

_CHARGE = """
WITH found AS (
    SELECT k.id AS key_id, k.permissions, u.id AS user_id,
           coalesce(k.hourly_limit, u.hourly_limit, 100) AS hourly_limit,
           date_trunc('hour', statement_timestamp(), 'UTC') AS hour
      FROM accounts_apikey k JOIN accounts_user u ON u.id = k.user_id
     WHERE k.digest = %s AND k.state = 'active' AND u.is_active
       AND (k.expires_at IS NULL OR k.expires_at > statement_timestamp())
), asynchronous AS (
    SELECT set_config('synchronous_commit', 'off', true)
), charged AS (
    INSERT INTO accounts_usage AS usage (account_id, key_id, hour, calls, credits, last_at)
    SELECT user_id, key_id, hour, 1, 0, statement_timestamp() FROM found, asynchronous
    ON CONFLICT ON CONSTRAINT accounts_usage_pkey
    DO UPDATE SET calls = usage.calls + 1, last_at = excluded.last_at
     WHERE usage.calls - usage.credits < (SELECT hourly_limit FROM found)
    RETURNING calls - credits AS used
)
SELECT key_id, permissions, user_id, hourly_limit, used,
       extract(epoch FROM hour)::bigint + 3600
  FROM found, charged
"""


def iso(column: str) -> str:
    return f"""to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""


LISTED = {
    "id": "r.id",
    "loop_id": "r.loop_id",
    "processing_type": "r.processing_type",
    "type": "r.type",
    "priority": "r.priority",
    "request_text": "r.request_text",
    "response_type": "r.response_type",
    "status": "r.status",
    "response_data": "r.response_data",
    "response_by": "r.response_by_id",
    "response_at": iso("r.response_at"),
    "response_time_seconds": """extract(epoch FROM date_trunc('milliseconds', r.response_at)
        - date_trunc('milliseconds', r.created_at))::float""",
    "timeout_at": iso("r.timeout_at"),
    "created_at": iso("r.created_at"),
    "updated_at": iso("r.updated_at"),
}
DETAIL = {
    **LISTED,
    **{
        name: f"r.{name}"
        for name in (
            *("creator_id", "image_url", "context", "response_config", "default_response"),
            *("platform", "platform_version", "callback_url", "timeout_seconds"),
            *("broadcasted_to", "notifications_sent"),
        )
    },
    "claimed_by": "r.claimed_by_id",
    "claimed_at": iso("r.claimed_at"),
    "answered_by": """CASE r.status WHEN 'completed' THEN 'human'
        WHEN 'timeout' THEN 'default' END""",
    "response_comment": "r.response_comment",
    "response_by_user": """CASE WHEN p.id IS NOT NULL
        THEN json_build_object('id', p.id, 'name', p.name, 'email', p.email) END""",
    "feedback": "f.body",
    "texts_removed_at": iso("r.texts_removed_at"),
}
_READ = f"""
SELECT {", ".join(DETAIL.values())}
  FROM reviews_request r
  LEFT JOIN accounts_user p ON p.id = r.response_by_id
  LEFT JOIN reviews_feedback f ON f.request_id = r.id
 WHERE r.id = %s AND (r.creator_id = %s OR EXISTS (
       SELECT 1 FROM loops_membership m JOIN loops_loop l ON l.id = m.loop_id
        WHERE m.loop_id = r.loop_id AND m.user_id = %s AND m.status = 'active'
          AND l.deleted_at IS NULL))
"""
_LIST = f"""
SELECT {", ".join(LISTED.values())} FROM reviews_request r WHERE r.creator_id = %s
 ORDER BY r.created_at DESC, r.id DESC LIMIT 50
"""
_GIVEN = (
    *("processing_type", "type", "priority", "request_text", "image_url", "context"),
    *("response_type", "response_config", "default_response"),
    *("platform", "platform_version", "callback_url"),
)
_JSON = ("context", "response_config", "default_response")
_CREATE = f"""
WITH audience AS (
    SELECT l.id, l.creator_id, (SELECT count(*) FROM loops_membership m
                                 WHERE m.loop_id = l.id AND m.status = 'active') AS members
      FROM loops_loop l
     WHERE l.id = %(loop)s AND l.creator_id = %(user)s AND l.deleted_at IS NULL FOR KEY SHARE
)
INSERT INTO reviews_request AS r (
    id, loop_id, creator_id, api_key_id, {", ".join(_GIVEN)}, timeout_seconds, status, timeout_at,
    claim_count, broadcasted_to, notifications_sent, created_at, updated_at)
SELECT %(id)s, id, creator_id, %(key)s, {", ".join(f"%({name})s" for name in _GIVEN)}, %(seconds)s,
       'pending', statement_timestamp() + make_interval(secs => %(seconds)s), 0, members, 0,
       statement_timestamp(), statement_timestamp()
  FROM audience WHERE members > 0
RETURNING {iso("r.timeout_at")}, broadcasted_to
"""
Row = tuple[Any, ...]


def fetch(sql: str, params: Any) -> Row:
    """Returns the only row. Raises ValueError if there is none."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        row: Row | None = cursor.fetchone()
    if row is None:
        raise ValueError("nothing there")
    return row


def charge(request: HttpRequest, permission: str) -> Row:
    key = request.META["HTTP_AUTHORIZATION"].removeprefix("Bearer ")
    caller = fetch(_CHARGE, [hashlib.sha256(key.encode()).digest()])
    if permission not in caller[1]:
        raise ValueError(permission)
    return caller


def answer(caller: Row, msg: str, data: dict[str, Any], status: int = 200) -> HttpResponse:
    body = json.dumps(
        {"error": False, "msg": msg, "data": data}, ensure_ascii=False, separators=(",", ":")
    ).encode()
    response = HttpResponse(body, content_type="application/json", status=status)
    response["Content-Length"] = str(len(body))
    response["X-RateLimit-Limit"] = str(caller[3])
    response["X-RateLimit-Remaining"] = str(caller[3] - caller[4])
    response["X-RateLimit-Reset"] = str(caller[5])
    response["Cache-Control"] = "no-store"
    return response


def poll(request: HttpRequest, request_id: str) -> HttpResponse:
    caller = charge(request, "requests:read")
    row = fetch(_READ, [request_id, caller[2], caller[2]])
    detail = dict(zip(DETAIL, row, strict=True))
    return answer(caller, "Request retrieved successfully", {"request": detail})


def create(request: HttpRequest, loop_id: str) -> HttpResponse:
    caller = charge(request, "requests:write")
    body = json.loads(request.body)
    given = {name: body.get(name) for name in _GIVEN}
    given |= {name: Json(given[name]) for name in _JSON if given[name] is not None}
    known = {"id": owned_id(caller[2]), "loop": loop_id, "user": caller[2], "key": caller[0]}
    known["seconds"] = body.get("timeout_seconds", 2592000)
    timeout_at, members = fetch(_CREATE, {**given, **known})
    data = {
        "request_id": known["id"],
        "status": "pending",
        "processing_type": body["processing_type"],
        "type": body["type"],
        "priority": body["priority"],
        "timeout_at": timeout_at,
        "broadcasted_to": members,
        "notifications_sent": 0,
        "polling_url": f"/v1/api/requests/{known['id']}",
    }
    return answer(caller, "Request created and broadcasted successfully", data, status=201)


def requests(request: HttpRequest) -> HttpResponse:
    caller = charge(request, "requests:read")
    with connection.cursor() as cursor:
        cursor.execute(_LIST, [caller[2]])
        rows = cursor.fetchall()
    data = {"requests": [dict(zip(LISTED, row, strict=True)) for row in rows], "count": len(rows)}
    return answer(caller, "Requests retrieved successfully", data)


urlpatterns = [
    re_path(r"^v1/api/loops/([^/]+)/requests/?\Z", csrf_exempt(create)),
    re_path(r"^v1/api/requests/?\Z", requests),
    re_path(r"^v1/api/requests/([^/]+)/?\Z", poll),
]
