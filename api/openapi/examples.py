"""Examples of the OpenAPI document, which follow one request through its life."""

from typing import Any, Final

from api.openapi.loops import LOOP, MEMBERS
from reviews.response_types import TYPES, ResponseType, get_response_type

REVIEWER: Final = {
    "id": MEMBERS[1]["user_id"],
    "name": "Grace",
    "email": "grace@example.com",
}
FEEDBACK: Final[dict[str, Any]] = {
    "rating": 5,
    "comment": "Quick and clear.",
    "would_recommend": True,
    "tags": ["refund"],
    "category": "positive",
}
SELECT: Final = get_response_type("single_select")
NEW: Final[dict[str, Any]] = {
    "processing_type": "time-sensitive",
    "type": "markdown",
    "priority": "high",
    "request_text": "Order 1042 arrived broken. Refund 80 €?",
    "context": {"order": 1042},
    "timeout_seconds": 3600,
    "response_type": SELECT.name,
    "response_config": SELECT.example.config,
    "default_response": SELECT.example.default,
    "platform": "api",
    "metadata": {"order": "1042"},
}
LISTED: Final[dict[str, Any]] = {
    "id": "019df2b0aa10c3d4e5f60718",
    "loop_id": LOOP["id"],
    "processing_type": "time-sensitive",
    "type": "markdown",
    "priority": "high",
    "request_text": NEW["request_text"],
    "response_type": SELECT.name,
    "status": "completed",
    "response_data": "refund",
    "response_by": REVIEWER["id"],
    "response_at": "2026-05-04T10:42:05.310Z",
    "response_time_seconds": 95.2,
    "timeout_at": "2026-05-04T11:40:30.110Z",
    "created_at": "2026-05-04T10:40:30.110Z",
    "updated_at": "2026-05-04T10:42:05.310Z",
}
DETAIL: Final[dict[str, Any]] = {
    **LISTED,
    "creator_id": LOOP["creator_id"],
    "image_url": None,
    "context": NEW["context"],
    "response_config": NEW["response_config"],
    "default_response": NEW["default_response"],
    "platform": "api",
    "platform_version": None,
    "callback_url": None,
    "timeout_seconds": 3600,
    "broadcasted_to": 2,
    "notifications_sent": 1,
    "claimed_by": None,
    "claimed_at": None,
    "answered_by": "human",
    "response_comment": "The photo shows the crack.",
    "response_by_user": REVIEWER,
    "feedback": None,
    "texts_removed_at": None,
    "metadata": NEW["metadata"],
}
CREATED: Final[dict[str, Any]] = {
    "request_id": LISTED["id"],
    "status": "pending",
    "processing_type": "time-sensitive",
    "type": "markdown",
    "priority": "high",
    "timeout_at": LISTED["timeout_at"],
    "broadcasted_to": 2,
    "notifications_sent": 0,
    "polling_url": f"/v1/api/requests/{LISTED['id']}",
}
PAGE: Final[dict[str, Any]] = {
    "requests": [LISTED],
    "count": 1,
    "total": 1,
    "has_more": False,
    "pagination": {"limit": 50, "offset": 0, "next_offset": None},
}


def build_new_request(kind: ResponseType) -> dict[str, Any]:
    """Builds an example of a new request with this response type."""
    return {
        **NEW,
        "response_type": kind.name,
        "response_config": kind.example.config,
        "default_response": kind.example.default,
    }


NEW_BY_TYPE: Final[dict[str, dict[str, Any]]] = {
    SELECT.name: NEW,  # first, because the other examples continue it
    **{kind.name: build_new_request(kind) for kind in TYPES.values()},
}
