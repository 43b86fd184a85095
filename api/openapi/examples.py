"""One request through its life, for every example of the document."""

from typing import Any, Final

from api.openapi.loops import LOOP, MEMBERS

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
OPTIONS: Final = [
    {"value": "refund", "label": "Refund it"},
    {"value": "decline", "label": "Decline"},
]
NEW: Final[dict[str, Any]] = {
    "processing_type": "time-sensitive",
    "type": "markdown",
    "priority": "high",
    "request_text": "Order 1042 arrived broken. Refund 80 €?",
    "context": {"order": 1042},
    "timeout_seconds": 3600,
    "response_type": "single_select",
    "response_config": {"options": OPTIONS},
    "default_response": "decline",
    "platform": "api",
}
LISTED: Final[dict[str, Any]] = {
    "id": "019df2b0aa10c3d4e5f60718",
    "loop_id": LOOP["id"],
    "processing_type": "time-sensitive",
    "type": "markdown",
    "priority": "high",
    "request_text": NEW["request_text"],
    "response_type": "single_select",
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
    "default_response": "decline",
    "platform": "api",
    "platform_version": None,
    "callback_url": None,
    "timeout_seconds": 3600,
    "broadcasted_to": 2,
    "notifications_sent": 1,
    "claimed_by": None,
    "claimed_at": None,
    "answered_by": "human",
    "response_by_user": REVIEWER,
    "feedback": None,
}
CREATED: Final[dict[str, Any]] = {
    "request_id": LISTED["id"],
    "status": "pending",
    "processing_type": "time-sensitive",
    "type": "markdown",
    "priority": "high",
    "timeout_at": LISTED["timeout_at"],
    "broadcasted_to": 2,
    "notifications_sent": 1,
    "polling_url": f"/v1/api/requests/{LISTED['id']}",
}
PAGE: Final[dict[str, Any]] = {
    "requests": [LISTED],
    "count": 1,
    "total": 1,
    "has_more": False,
    "pagination": {"limit": 50, "offset": 0, "next_offset": None},
}


def question(response_type: str, config: dict[str, Any], default: object) -> dict[str, Any]:
    """A new request of another answer type."""
    return {
        **NEW,
        "response_type": response_type,
        "response_config": config,
        "default_response": default,
    }


NEW_BY_TYPE: Final[dict[str, dict[str, Any]]] = {
    "single_select": NEW,
    "multi_select": question(
        "multi_select", {"options": ["late", "broken", "wrong"], "max_selections": 2}, "broken"
    ),
    "text": question("text", {"max_length": 500, "placeholder": "Why?"}, ""),
    "rating": question("rating", {"scale_max": 5}, 3),
    "number": question("number", {"max_value": 80, "min_value": 0}, 0),
}
