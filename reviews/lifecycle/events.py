"""Builds the body of webhook events in SQL (specification, Events). All events share one shape.

PostgreSQL builds the body in the statement of the transition, so ten thousand requests due at
once are settled with their events in about a second, and no transition is without its event.
`data.request` equals the single read; a property test compares the two. Only the credentials of a
`callback_url` are hidden: receivers log and forward what they are sent.
"""

from collections.abc import Iterable

from accounts.confirmed import CONFIRMED_SQL
from db.json_sql import (
    Value,
    json_object,
    moment,
    moment_text,
    raw,
    whole_milliseconds,
    word,
)
from web.web_urls import hide_credentials_sql

# Aliases: r is the request after its transition, l its loop, p the person who acted on it.
_ANSWERED_MS, _CREATED_MS = map(whole_milliseconds, ("r.response_at", "r.created_at"))
_RESPONSE_SECONDS = f"round(({_ANSWERED_MS} - {_CREATED_MS}) / 1000, 3)::double precision"
_PERSON: dict[str, str | Value] = {"name": "p.name", "email": "p.email"}
_ANSWERER = json_object({"id": word("p.id"), **_PERSON})
_REVIEWER = json_object(
    {"user_id": word("p.id"), **_PERSON, "verified": raw(CONFIRMED_SQL.format(user="p"))}
)

REQUEST: dict[str, str | Value] = {
    "id": word("r.id"),
    "loop_id": word("r.loop_id"),
    "processing_type": word("r.processing_type"),
    "type": word("r.type"),
    "priority": word("r.priority"),
    "request_text": "r.request_text",
    "response_type": word("r.response_type"),
    "status": word("r.status"),
    "response_data": raw("r.response_data"),
    "response_by": word("r.response_by_id"),
    "response_at": moment("r.response_at"),
    "response_time_seconds": raw(_RESPONSE_SECONDS),
    "timeout_at": moment("r.timeout_at"),
    "created_at": moment("r.created_at"),
    "updated_at": moment("r.updated_at"),
    "creator_id": word("r.creator_id"),
    "image_url": "r.image_url",
    "context": raw("r.context"),
    "response_config": raw("r.response_config"),
    "default_response": raw("r.default_response"),
    "platform": word("r.platform"),
    "platform_version": "r.platform_version",
    "callback_url": hide_credentials_sql("r.callback_url"),
    "timeout_seconds": raw("r.timeout_seconds"),
    "broadcasted_to": raw("r.broadcasted_to"),
    "notifications_sent": raw("r.notifications_sent"),
    "claimed_by": word("r.claimed_by_id"),
    "claimed_at": moment("r.claimed_at"),
    "answered_by": word(
        "CASE r.status WHEN 'completed' THEN 'human' WHEN 'timeout' THEN 'default' END"
    ),
    "response_comment": "r.response_comment",
    "response_by_user": raw(f"CASE WHEN r.status = 'completed' THEN {_ANSWERER} END"),
    "feedback": raw("NULL"),
    "texts_removed_at": moment("r.texts_removed_at"),
}

BODY: dict[str, str | Value] = {
    "event": word("%(event)s::text"),
    "request_id": word("r.id"),
    "loop_id": word("r.loop_id"),
    "status": word("r.status"),
    "response_data": raw("r.response_data"),
    "response_by": word("r.response_by_id"),
    "completed_at": word(f"CASE WHEN r.status <> 'claimed' THEN {moment_text('r.updated_at')} END"),
    "response_at": moment("r.response_at"),
    "response_time_seconds": raw(_RESPONSE_SECONDS),
    "response_comment": "r.response_comment",
    "created_at": moment("r.created_at"),
    "timestamp": word(f"(SELECT {moment_text('clock_timestamp()')})"),  # once, after the transition
    "data": raw(
        json_object(
            {
                "request": raw(json_object(REQUEST)),
                "loop": raw(json_object({"id": word("l.id"), "name": "l.name"})),
                "reviewer": raw(f"CASE WHEN p.id IS NOT NULL THEN {_REVIEWER} END"),
            }
        )
    ),
}

# The unique name of what happened: the request's end, or its n-th claim. `format_occurrences` is
# the same in Python.
OCCURRENCE = "r.id || CASE r.status WHEN 'claimed' THEN ':claim:' || r.claim_count ELSE ':end' END"

EVENTS = f"""
SELECT r.creator_id AS account_id, r.callback_url AS url, %(event)s::text AS name,
       r.id AS subject_id, {OCCURRENCE} AS occurrence, {json_object(BODY)} AS payload,
       r.traceparent
  FROM moved r
  JOIN loops_loop l ON l.id = r.loop_id
  LEFT JOIN accounts_user p
         ON p.id = CASE r.status WHEN 'claimed' THEN r.claimed_by_id ELSE r.response_by_id END
"""  # noqa: S608 (nothing in it comes from outside)


def format_occurrences(request_id: str, *, claims: Iterable[int]) -> list[str]:
    """Formats the occurrences of a request's end and of these claims, counted from 1."""
    return [f"{request_id}:end", *(f"{request_id}:claim:{number}" for number in claims)]
