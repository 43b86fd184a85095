"""The single read (specification, GET /api/requests/{id}) in one statement.

Clients poll a lot, so PostgreSQL writes the JSON itself, from the expressions that the events
are made of. A row that is not yet what it is seen as (overdue, or its claim lapsed) takes the
long way, which settles it. A property test compares both with the serializer.
"""

from django.db import connection

from api.envelope import dumps
from api.errors import RequestDenied, RequestNotFound
from reviews import services
from reviews.lifecycle.events import REQUEST, json_object
from api.serializers.requests import RequestDetail

# Aliases: r is the request, p the person who answered, f the feedback.
_READ = f"""
SELECT {json_object({**REQUEST, "feedback": "f.body"})},
       r.status IN ('pending', 'claimed')
           AND least(r.timeout_at, r.claim_expires_at) <= statement_timestamp(),
       r.creator_id = %(user)s OR EXISTS (
           SELECT 1 FROM loops_membership m JOIN loops_loop l ON l.id = m.loop_id
            WHERE m.loop_id = r.loop_id AND m.user_id = %(user)s AND m.status = 'active'
              AND l.deleted_at IS NULL)
  FROM reviews_request r
  LEFT JOIN accounts_user p ON p.id = r.response_by_id
  LEFT JOIN reviews_feedback f ON f.request_id = r.id
 WHERE r.id = %(id)s
"""  # noqa: S608 (nothing in it comes from outside)


def read_as_json(request_id: str, *, user_id: str) -> str:
    """The request that `user_id` may see, as JSON. Raises RequestNotFound, RequestDenied."""
    with connection.cursor() as cursor:
        cursor.execute(_READ, {"id": request_id, "user": user_id})
        row = cursor.fetchone()
    if row is None:
        raise RequestNotFound
    text, is_unsettled, is_visible = row
    if not is_visible:
        raise RequestDenied
    if is_unsettled:
        return dumps(RequestDetail(services.read_request(request_id)).data).decode()
    return str(text)
