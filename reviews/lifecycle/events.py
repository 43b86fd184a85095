"""Builds the events of requests, whose `data.request` is a single read. All have one shape.

Unlike a single read, an event hides the credentials of a `callback_url`, because receivers log and
forward events.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.db import connection

from accounts.confirmed import CONFIRMED_SQL
from db.times import iso
from reviews import sizes
from reviews.lifecycle import states
from reviews.models import Answer, Request
from reviews.representation import DETAIL, Around, represent_answers
from webhooks import emission
from webhooks.emission import Event, name_occurrences

# One statement. The ORM needs two, and 0.7 ms more CPU for each answer.
_AROUND = f"""
SELECT l.name, p.id, p.name, p.email, {CONFIRMED_SQL.format(user="p")}
  FROM unnest(%(loops)s::text[], %(people)s::text[]) WITH ORDINALITY AS moved (loop, person, place)
  JOIN loops_loop l ON l.id = moved.loop
  LEFT JOIN accounts_user p ON p.id = moved.person
 ORDER BY moved.place
"""  # noqa: S608 (nothing in it comes from outside)


class Reviewer(NamedTuple):
    """The person who claimed or answered a request, as an event names them."""

    id: str
    name: str
    email: str
    is_confirmed: bool


def emit(name: str, requests: Sequence[Request]) -> None:
    """Writes an event for each of these requests, which have just changed their status.

    Answers make events large, so those of many requests are built in parts.
    """
    if sum(request.shows_answers for request in requests) < 2:
        emission.emit(_build(name, requests))
        return
    by_id = {request.pk: request for request in requests}
    for part in sizes.split(list(by_id)):
        emission.emit(_build(name, [by_id[request_id] for request_id in part]))


def emit_created(request: Request) -> None:
    """Writes the event of a request that was just created, for the endpoints that want it.

    No other receiver gets it: programs of before do not know it.
    """
    request.now = request.created_at
    emission.emit_to_endpoints(*_build(states.CREATED, [request]))


def _build(name: str, requests: Sequence[Request]) -> list[Event]:
    """Builds an event for each of these requests."""
    people = [get_reviewer_id(request) for request in requests]
    with connection.cursor() as cursor:
        cursor.execute(_AROUND, {"loops": [each.loop_id for each in requests], "people": people})
        around = [(loop_name, Reviewer(*person)) for loop_name, *person in cursor.fetchall()]
    shown = [request.pk for request in requests if request.shows_answers]
    answers = Answer.objects.by_request(shown) if shown else {}
    return [
        Event(
            account_id=request.creator_id,
            url=request.callback_url,
            name=name,
            subject_id=request.pk,
            occurrence=get_occurrence(name, request),
            payload=build_body(
                name,
                request,
                loop_name,
                reviewer if reviewer.id else None,
                answers.get(request.pk),
            ),
            traceparent=request.traceparent,
            loop_id=request.loop_id,
        )
        for request, (loop_name, reviewer) in zip(requests, around, strict=True)
    ]


def build_body(
    name: str,
    request: Request,
    loop_name: str,
    reviewer: Reviewer | None,
    answers: Sequence[Answer] | None = None,
) -> dict[str, Any]:
    """Builds the body of an event. `answers` are None unless a policy lets them be seen."""
    answerer = reviewer if request.status == states.COMPLETED else None
    given = None if answers is None else represent_answers(answers)
    shown = DETAIL.represent_stored(request, Around(answerer, shows_metadata=True, answers=given))
    person = reviewer and {
        "user_id": reviewer.id,
        "name": reviewer.name,
        "email": reviewer.email,
        "verified": reviewer.is_confirmed,
    }
    return {
        "event": name,
        "request_id": request.pk,
        "loop_id": shown["loop_id"],
        "status": shown["status"],
        "response_data": shown["response_data"],
        "response_by": shown["response_by"],
        "completed_at": shown["updated_at"] if request.status in states.FINAL else None,
        "response_at": shown["response_at"],
        "response_time_seconds": shown["response_time_seconds"],
        "response_comment": shown["response_comment"],
        "created_at": shown["created_at"],
        "timestamp": iso(request.now),
        "data": {
            "request": shown,
            "loop": {"id": request.loop_id, "name": loop_name},
            "reviewer": person,
        },
    }


def get_reviewer_id(request: Request) -> str | None:
    """Returns the id of the person whom an event names as the reviewer."""
    claimer: str | None = request.claimed_by_id
    return claimer if request.status == states.CLAIMED else request.response_by_id


def get_occurrence(name: str, request: Request) -> str:
    """Returns the unique name of what happened: the creation, the end, or the n-th claim."""
    if name == states.CREATED:
        return format_created(request.pk)
    if request.status in states.FINAL:
        return format_end(request.pk)
    return format_claim(request.pk, request.claim_count)


def format_created(request_id: str) -> str:
    """Formats the occurrence of the request's creation."""
    return f"{request_id}:created"


def format_claim(request_id: str, number: int) -> str:
    """Formats the occurrence of a claim, counted from 1."""
    return f"{request_id}:claim:{number}"


def format_end(request_id: str) -> str:
    """Formats the occurrence of the request's end."""
    return f"{request_id}:end"


def format_occurrences(request_id: str, *, claims: Iterable[int]) -> list[str]:
    """Formats all names that deliveries have of what happened to a request.

    `claims` are the numbers of its claims, counted from 1.
    """
    happened = [format_created(request_id), format_end(request_id)]
    happened += [format_claim(request_id, number) for number in claims]
    return [name for occurrence in happened for name in name_occurrences(occurrence)]
