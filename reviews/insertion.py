"""Inserts a request and its notifications in one statement, which is its own transaction."""

from typing import Any

from django.db import connection
from psycopg.types.json import Json

from db.columns import dumps
from loops.models import Loop
from loops.services import AUDIENCE
from outbox.items import Item
from reviews.models import Request
from reviews.notifications import enqueue
from reviews.notifications.enqueue import ENQUEUE
from reviews.notifications.push.channel import Push

_INPUT = (
    "id", "api_key_id", "processing_type", "type", "priority", "request_text",
    "image_url", "context", "timeout_seconds", "response_type", "response_config",
    "default_response", "platform", "platform_version", "callback_url",
    "metadata", "asked_through", "traceparent", "replaces_id",
)  # fmt: skip
_PARAMS = (*_INPUT, "loop_id", "creator_id")
_JSON = ("context", "response_config", "default_response", "metadata")
_COMPUTED = {
    "loop_id": "loop_id",
    "creator_id": "owner_id",
    "status": "'pending'",
    "claim_count": "0",
    "broadcasted_to": "members",
    "notifications_sent": "0",
    "timeout_at": "statement_timestamp() + make_interval(secs => %(timeout_seconds)s)",
    "created_at": "statement_timestamp()",
    "updated_at": "statement_timestamp()",
}
_INSERT = f"""
WITH {AUDIENCE}, made AS (
    INSERT INTO reviews_request ({", ".join([*_INPUT, *_COMPUTED])})
    SELECT {", ".join([*(f"%({name})s" for name in _INPUT), *_COMPUTED.values()])}
      FROM audience WHERE owner_id = %(creator_id)s AND members > 0
    RETURNING id, creator_id, loop_id, priority, timeout_at, created_at
), {ENQUEUE}
SELECT owner_id = %(creator_id)s, members, timeout_at, created_at, items
  FROM audience LEFT JOIN made ON true CROSS JOIN pushes
"""  # noqa: S608 (nothing in it comes from outside)


class NotTheOwner(Exception):
    """The account did not create the loop, so it may not create requests in it."""


class NoActiveMembers(Exception):
    """Nobody in the loop would receive the request."""


def insert(request: Request) -> list[Item[Push]]:
    """Inserts a new request for the active members of its loop, and sets the fields that SQL
    computes.

    Returns the pushes, claimed for this process, which sends them after the commit. Raises
    Loop.DoesNotExist where the loop is gone, NotTheOwner, NoActiveMembers, and IntegrityError where
    the id is taken.
    """
    notifying = enqueue.parameters()
    params: dict[str, Any] = {name: getattr(request, name) for name in _PARAMS}
    for name in _JSON:
        if params[name] is not None:
            params[name] = Json(params[name], dumps=dumps)
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, {**params, **notifying})
        row = cursor.fetchone()
    if row is None:
        raise Loop.DoesNotExist
    is_owner, request.broadcasted_to, request.timeout_at, request.created_at, items = row
    if not is_owner:
        raise NotTheOwner
    if not request.broadcasted_to:
        raise NoActiveMembers
    request.updated_at = request.created_at
    request._state.adding = False  # the row has its instance
    return enqueue.read_items(items, request, claim_id=notifying["push_claim"])
