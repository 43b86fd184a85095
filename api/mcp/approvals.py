"""Tells a model in words what people decided about a call that it proposed."""

from datetime import datetime, timedelta
from typing import Any, Final

from django.utils import timezone

from reviews.policy import DEFAULT, NO_AGREEMENT, UNREACHABLE
from reviews.response_types.approval.kind import VALID_FOR, VALID_SECONDS
from reviews.response_types.approval.names import APPROVE, EDIT, REJECT, RESPOND
from reviews.response_types.approval.words import join_names

_STEPS: Final = {
    APPROVE: "A person approved %(name)s. Run it with response_data.arguments, exactly as they "
    "are.",
    EDIT: "A person changed the arguments before approving %(name)s: %(edited)s. Run it with "
    "response_data.arguments, exactly as they are. Do not repeat the original call.",
    REJECT: "A person rejected %(name)s. Do not run it, and do not ask again for the same call.",
    RESPOND: "A person replied instead of approving %(name)s. Do not run it. Read "
    "response_data.message, and propose another call if one is still needed.",
}
_WITHOUT: Final = {
    NO_AGREEMENT: "People did not agree about %(name)s. Do not run it.",
    UNREACHABLE: "Too few people were left to decide about %(name)s. Do not run it.",
    DEFAULT: "Too few people decided about %(name)s in time. Do not run it.",
}
_BY_DEFAULT: Final = "Nobody decided about %(name)s in time. Do not run it."
_REMOVED: Final = (
    "A person approved %(name)s, but its arguments are no longer stored. Do not run it. Ask again "
    "if it is still needed."
)
_EXPIRED: Final = (
    "A person approved %(name)s, but the approval has expired. Do not run it. Ask again if it is "
    "still needed."
)
_REPLACED: Final = (
    "A newer version of this request is in superseded_by. Do not run %(name)s by this one."
)


def build_next_step(request: dict[str, Any]) -> str:
    """Returns what the model has to do now; '' for a request that is no ended approval."""
    data = request["response_data"]
    if request["response_type"] != "approval" or not isinstance(data, dict):
        return ""
    proposal = request["response_config"].get("proposal") or {}
    words = {"name": proposal.get("name", "the call"), "edited": join_names(data.get("edited", ()))}
    return _choose_step(request, data) % words


def find_reason(request: dict[str, Any]) -> str:
    """Returns the outcome that several people's answers had; '' if there was no answer."""
    outcome = request.get("outcome") or ""
    return outcome if outcome != DEFAULT or request["answers_received"] else ""


def _choose_step(request: dict[str, Any], data: dict[str, Any]) -> str:
    if request["answered_by"] not in ("human", "grant"):
        return _WITHOUT.get(find_reason(request), _BY_DEFAULT)
    if data["action"] in (APPROVE, EDIT):
        if request.get("superseded_by"):
            return _REPLACED
        if "arguments" not in data:
            return _REMOVED
        seconds = request["response_config"].get(VALID_FOR, VALID_SECONDS)
        answered_at = datetime.fromisoformat(request["response_at"])
        if answered_at + timedelta(seconds=seconds) <= timezone.now():
            return _EXPIRED
    return _STEPS[data["action"]]
