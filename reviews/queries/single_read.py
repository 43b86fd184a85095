"""The single read (specification, GET /api/requests/{id}) in one statement.

Clients poll a lot, so PostgreSQL writes the JSON itself, from the expressions that the events
are made of. A row that is due (overdue, or its claim lapsed) is settled first. A property test
compares the JSON with the serializer.
"""

from django.db import connection

from db.json_sql import json_object, raw
from loops.active_members import ACTIVE_MEMBERS
from reviews.lifecycle import states, transitions
from reviews.lifecycle.events import REQUEST
from reviews.models import Request

# Aliases: r is the request, p the person who answered, f the feedback.
_READ = f"""
SELECT {json_object({**REQUEST, "feedback": raw("f.body")})},
       r.status IN ('pending', 'claimed')
           AND least(r.timeout_at, r.claim_expires_at) <= statement_timestamp(),
       r.creator_id = %(user)s OR EXISTS (
           SELECT 1 FROM {ACTIVE_MEMBERS} WHERE m.loop_id = r.loop_id AND m.user_id = %(user)s)
  FROM reviews_request r
  LEFT JOIN accounts_user p ON p.id = r.response_by_id
  LEFT JOIN reviews_feedback f ON f.request_id = r.id
 WHERE r.id = %(id)s
"""  # noqa: S608 (nothing in it comes from outside)


class NotVisible(Exception):
    """The request exists, and the user may not see it."""


def read_as_json(request_id: str, *, user_id: str) -> str:
    """The request as JSON, settled on the spot where it is due.

    Raises Request.DoesNotExist, NotVisible.
    """
    text, is_unsettled = _fetch(request_id, user_id)
    if is_unsettled:
        if not transitions.move(states.TIME_OUT, transitions.ONE, id=request_id):
            transitions.move(states.LAPSE, transitions.ONE, id=request_id)
        text, _ = _fetch(request_id, user_id)
    return text


def _fetch(request_id: str, user_id: str) -> tuple[str, bool]:
    with connection.cursor() as cursor:
        cursor.execute(_READ, {"id": request_id, "user": user_id})
        row = cursor.fetchone()
    if row is None:
        raise Request.DoesNotExist
    text, is_unsettled, is_visible = row
    if not is_visible:
        raise NotVisible
    return str(text), bool(is_unsettled)
