"""Reads one request as JSON in one statement (specification, GET /api/requests/{id}).

Clients poll often, so PostgreSQL writes the JSON, from the same expressions as the events. A
property test compares it with the serializer. A due request is settled and read again.
"""

from django.db import connection

from db.json_sql import json_object, raw
from loops.active_members import ACTIVE_MEMBERS
from reviews.lifecycle.conditions import lapsed, overdue
from reviews.lifecycle.events import REQUEST
from reviews.lifecycle.settling import read_settled, scope_to_request
from reviews.models import Request
from web.web_urls import hide_credentials_sql

# Aliases: r is the request, p the person who answered, f the feedback. Members see everything but
# the name and password in the URL that the creator's events are sent to.
_FIELDS = {
    **REQUEST,
    "callback_url": f"""CASE WHEN r.creator_id = %(user)s THEN r.callback_url
                             ELSE {hide_credentials_sql("r.callback_url")} END""",
    "feedback": raw("f.body"),
}
_READ = f"""
SELECT {json_object(_FIELDS)},
       {overdue()} OR {lapsed()},
       r.creator_id = %(user)s OR EXISTS (
           SELECT 1 FROM {ACTIVE_MEMBERS} WHERE m.loop_id = r.loop_id AND m.user_id = %(user)s)
  FROM reviews_request r
  LEFT JOIN accounts_user p ON p.id = r.response_by_id
  LEFT JOIN reviews_feedback f ON f.request_id = r.id AND f.account_id = r.creator_id
 WHERE r.id = %(id)s
"""  # noqa: S608 (nothing in it comes from outside)


class NotVisible(Exception):
    """The request exists, but the user may not see it."""


def read_as_json(request_id: str, *, user_id: str) -> str:
    """Returns the request as JSON, settled first if it is due.

    Raises Request.DoesNotExist, NotVisible.
    """

    def read() -> tuple[str, bool]:
        with connection.cursor() as cursor:
            cursor.execute(_READ, {"id": request_id, "user": user_id})
            row = cursor.fetchone()
        if row is None:
            raise Request.DoesNotExist
        text, is_due, is_visible = row
        if not is_visible:
            raise NotVisible
        return str(text), is_due

    return read_settled(scope_to_request(request_id), read)
