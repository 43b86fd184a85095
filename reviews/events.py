"""What a receiver is told (specification, Events): one body for every published shape."""

from collections.abc import Iterable
from typing import Any

from accounts.models import User
from config.times import iso, iso_or_none
from reviews import states
from reviews.models import Request
from reviews.serializers import RequestDetail, describe_user
from webhooks.services import Event, emit


def announce(name: str, requests: Iterable[Request]) -> None:
    """Writes the event `name` of each request to the outbox, in the caller's transaction."""
    emit(
        [
            Event(
                account_id=request.creator_id,
                url=str(request.callback_url),
                name=name,
                subject_id=request.id,
                occurrence=occurrence(request),
                payload=payload(name, request),
            )
            for request in requests
        ]
    )


def occurrence(request: Request) -> str:
    """What happened, once: the request's end, or its n-th claim."""
    if request.status == states.CLAIMED:
        return f"{request.id}:claim:{request.claim_count}"
    return f"{request.id}:end"


def payload(name: str, request: Request) -> dict[str, Any]:
    """The event's body, from a row of `complete_read()`."""
    detail = RequestDetail(request).data
    reviewer = request.claimed_by if request.status == states.CLAIMED else request.response_by
    return {
        "event": name,
        "request_id": request.id,
        "loop_id": request.loop_id,
        "status": request.status,
        "response_data": request.response_data,
        "response_by": request.response_by_id,
        "completed_at": iso_or_none(
            None if request.status == states.CLAIMED else request.updated_at
        ),
        "response_at": detail["response_at"],
        "response_time_seconds": detail["response_time_seconds"],
        "created_at": detail["created_at"],
        "timestamp": iso(request.now),
        "data": {
            "request": detail,
            "loop": {"id": request.loop_id, "name": request.loop.name},
            "reviewer": describe_reviewer(reviewer),
        },
    }


def describe_reviewer(user: User | None) -> dict[str, str] | None:
    """`{user_id, name, email}`."""
    described = describe_user(user)
    return described and {
        "user_id": described["id"],
        "name": described["name"],
        "email": described["email"],
    }
