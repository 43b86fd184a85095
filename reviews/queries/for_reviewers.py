"""Reads requests for the people who review them, without a browser (docs/contract.md, `review`)."""

from dataclasses import dataclass
from typing import Any, Final

from reviews.models import Request
from reviews.queries.open_questions import Queue, count_open
from reviews.queries.queue_filter import QueueFilter
from reviews.representation import DETAIL, Around, Field, Kind, Shape, represent_answers

_LISTED = (
    "id", "loop_id", "type", "priority", "request_text", "response_type", "status", "timeout_at",
    "created_at", "claimed_by", "claimed_at",
)  # fmt: skip
# Not what only concerns the account that asks: its platform, its webhook and its metadata.
_DETAIL = (
    *_LISTED, "image_url", "context", "response_config", "default_response", "timeout_seconds",
    "response_data", "response_by", "response_by_user", "response_at", "response_comment",
    "answered_by", "texts_removed_at", "policy", "outcome", "answers_received", "answers",
    "grant_id",    "replaces", "superseded_by",
)  # fmt: skip


def _choose(names: tuple[str, ...]) -> list[Field]:
    return [field for field in DETAIL.fields if field.name in names]


REVIEW_LISTED: Final = Shape(*_choose(_LISTED))
REVIEW_DETAIL: Final = Shape(
    *_choose(_DETAIL), Field("claim_expires_at", Kind.TIME, "claim_expires_at", null=True)
)


@dataclass(frozen=True, slots=True)
class Open:
    """A page of a person's open requests, and the number of all."""

    entries: list[dict[str, Any]]
    total: int


def list_open(user_id: str, *, loop_id: str | None, first: int, count: int) -> Open:
    """Lists what the inbox does, the most urgent first. Two statements if none is due."""
    queue = Queue(user_id, [], QueueFilter(loop=loop_id or ""))
    total = count_open(user_id, loop_id)
    rows = queue[first : first + count] if first < total else []
    entries = [
        {**REVIEW_LISTED.represent_stored(row), **_describe_for(row, user_id)} for row in rows
    ]
    return Open(entries, total)


def represent(request: Request, user_id: str) -> dict[str, Any]:
    """Represents a request of `RequestQuerySet.for_single_read()` to a reviewer; one statement.

    `your_answer` is the reviewer's own, null before it. `answers` are those of all, where the
    policy lets them be seen.
    """
    answers = list(request.list_readable_answers(user_id))
    around = Around(
        request.response_by,
        answers=represent_answers(answers) if request.shows_answers else None,
    )
    own = represent_answers(answer for answer in answers if answer.person_id == user_id)
    return {
        **REVIEW_DETAIL.represent_stored(request, around),
        **_describe_for(request, user_id),
        "your_answer": own[0] if own else None,
    }


def _describe_for(request: Request, user_id: str) -> dict[str, Any]:
    return {"loop_name": request.loop.name, "may_answer": request.is_free_for(user_id)}
