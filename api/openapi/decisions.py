"""The OpenAPI descriptions of a loop's figures and of the export of its decisions."""

import json
from typing import Any, Final

from api.decisions import NAMES, LoopDecisions, LoopStatistics
from api.errors import (
    ExportUnderWay,
    InvalidLoopId,
    LoopDenied,
    LoopNotFound,
    ValidationFailed,
)
from api.openapi.loops import LOOP, LOOP_PATH
from api.openapi.operations import (
    ID,
    STRING,
    Operation,
    Operations,
    Parameter,
    Schema,
    nullable,
    object_of,
)
from reviews.queries.decision_figures import MOST, QUICK, SPAN

_SHARE: Final[Schema] = {"type": "number", "minimum": 0, "maximum": 1}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 1}
_FIGURES: Final[dict[str, Schema]] = {
    "count": _COUNT,
    **dict.fromkeys(NAMES.values(), _SHARE),
    "median_seconds_from_opening": nullable({"type": "number"}),
    "may_not_have_been_read": nullable(_SHARE),
}
_EXAMPLE: Final[dict[str, Any]] = {
    "count": 40,
    "approved": 0.75,
    "edited": 0.1,
    "rejected": 0.05,
    "replied": 0.0,
    "timed_out": 0.1,
    "median_seconds_from_opening": 12.5,
    "may_not_have_been_read": 0.028,
}
_LINE: Final[dict[str, Any]] = {
    "id": "019df2b0aa10c3d4e5f60718",
    "created_at": "2026-05-04T10:42:00.000Z",
    "ended_at": "2026-05-04T10:42:41.250Z",
    "response_type": "approval",
    "question": "Refund order 1042?",
    "tool": "refund",
    "proposal": {"name": "refund", "arguments": {"order": "1042", "amount": 120}},
    "action": "edit",
    "answered_by": "human",
    "approved_arguments": {"order": "1042", "amount": 80},
    "difference": {"amount": {"proposed": 120, "approved": 80}},
    "answer": None,
    "message": None,
    "comment": "The cup was whole.",
    "seconds": 41.25,
    "seconds_from_opening": 12.5,
}
_MOMENT: Final[Schema] = {"type": "string", "format": "date-time"}
_ERRORS: Final = (InvalidLoopId, LoopDenied, LoopNotFound)

OPERATIONS: Operations = {
    (LoopStatistics, "GET"): Operation(
        name="readLoopStatistics",
        tag="Loops",
        summary="Read how approvals were decided",
        description=f"Of the newest {MOST} approvals of the last {SPAN.days} days: shares from 0 "
        "to 1, of all and by the name of the tool that asked, the most frequent first. "
        "`median_seconds_from_opening` is from the moment at which the person first opened the "
        f"question to the answer. `may_not_have_been_read` is the share of answers within {QUICK} "
        "seconds of it. Only the loop's creator may do this.",
        message="Loop statistics retrieved successfully",
        paths=LOOP_PATH,
        data={
            "loop_id": ID,
            "days": _COUNT,
            "most": _COUNT,
            "quick_seconds": _COUNT,
            "approvals": nullable(object_of(_FIGURES)),
            "tools": {"type": "array", "items": object_of({"tool": STRING, **_FIGURES})},
        },
        example={
            "loop_id": LOOP["id"],
            "days": SPAN.days,
            "most": MOST,
            "quick_seconds": QUICK,
            "approvals": _EXAMPLE,
            "tools": [{"tool": "refund", **_EXAMPLE}],
        },
        errors=_ERRORS,
    ),
    (LoopDecisions, "GET"): Operation(
        name="exportDecisions",
        tag="Loops",
        summary="Export decisions",
        description="One line of JSON for each request of the loop that was answered or timed out, "
        "the newest first. `action` is approve, edit, reject or respond for approvals, answer for "
        "other requests, and timeout where nobody answered. The export costs one call, however "
        "long it is. It breaks off if the key, its permission, the account or the loop ends. An "
        "account has one export at a time. Only the loop's creator may do this.",
        message="Lines of JSON.",
        paths=LOOP_PATH,
        query=(
            Parameter("since", "Requests that were created at this time or later.", _MOMENT),
            Parameter("until", "Requests that were created before this time.", _MOMENT),
        ),
        data={},
        example={"text": json.dumps(_LINE) + "\n"},
        errors=(*_ERRORS, ValidationFailed, ExportUnderWay),
        is_stream=True,
        content_type="text/jsonl",
    ),
}
