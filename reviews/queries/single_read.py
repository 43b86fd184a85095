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
_READ_MANY = f"""
SELECT {json_object(_FIELDS)}
  FROM unnest(%(ids)s::text[]) WITH ORDINALITY AS chosen (id, place)
  JOIN reviews_request r ON r.id = chosen.id
  LEFT JOIN accounts_user p ON p.id = r.response_by_id
  LEFT JOIN reviews_feedback f ON f.request_id = r.id AND f.account_id = r.creator_id
 WHERE r.creator_id = %(user)s ORDER BY chosen.place
"""  # noqa: S608


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


def read_many_as_json(request_ids: list[str], *, user_id: str) -> list[str]:
    """Returns those of the requests that the user created as JSON, in the order of the ids.

    What is due has to be settled first.
    """
    with connection.cursor() as cursor:
        cursor.execute(_READ_MANY, {"ids": request_ids, "user": user_id})
        return [text for (text,) in cursor.fetchall()]
