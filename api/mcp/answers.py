"""The answer to a question, as ask_human and get_answer return it."""

from functools import cache
from typing import Any, Final

from api.mcp import schemas
from api.mcp.approvals import build_next_step
from api.openapi.operations import ID, STRING, Schema, object_of, one_of
from api.requests import RequestDetails
from reviews.lifecycle import states

_GO_ON: Final = (
    "Call get_answer with this request_id and wait, until status is no longer pending. Do not ask "
    "again, and do not go on without the answer."
)
NEXT_STEP: Final = f"Nobody has answered yet. {_GO_ON}"
UNREAD: Final = f"The question was asked, but its answer could not be read just now. {_GO_ON}"
_FIELDS: Final = (
    "response_data",
    "answered_by",
    "response_comment",
    "response_by_user",
    "response_at",
    "timeout_at",
)
# Fields only where they are set: an answer in text is '' once texts are removed.
_REMOVED: Final = "texts_removed_at"
_NEXT: Final = "superseded_by"
_OF_SEVERAL: Final = ("outcome", "answers")  # of a request with a policy
_OPTIONAL: Final = (_REMOVED, _NEXT, *_OF_SEVERAL)


def build_answer(request: dict[str, Any]) -> dict[str, Any]:
    """Builds the answer from a single read; while there is none it says how to go on."""
    answer = {"request_id": request["id"]}
    if request["status"] in states.OPEN:
        return {
            **answer,
            "status": states.PENDING,
            "timeout_at": request["timeout_at"],
            "next_step": NEXT_STEP,
        }
    answer |= {"status": request["status"], **{name: request[name] for name in _FIELDS}}
    if step := build_next_step(request):
        answer["next_step"] = step
    return answer | {name: request[name] for name in _OPTIONAL if request.get(name)}


def build_unread_answer(request_id: str) -> dict[str, Any]:
    """Builds the answer of a request that exists but could not be read."""
    return {"request_id": request_id, "status": states.PENDING, "next_step": UNREAD}


@cache
def build_schema() -> Schema:
    """Builds the schema of `build_answer`."""
    request = schemas.build_output(RequestDetails, "GET")["properties"]["request"]
    statuses = [states.PENDING, states.COMPLETED, states.TIMEOUT, states.CANCELLED]
    description = (
        "timeout: nobody answered in time, or people did not agree (outcome says so), and "
        "response_data is the default response."
    )
    return object_of(
        {
            "request_id": ID,
            "status": one_of(statuses, description=description),
            **schemas.pick(request, (*_FIELDS, *_OPTIONAL)),
            "next_step": STRING,
        },
        optional=[*_FIELDS, *_OPTIONAL, "next_step"],
    )
