"""Tells a model in words what people decided about a call that it proposed."""

from typing import Any, Final

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
_BY_DEFAULT: Final = "Nobody looked at %(name)s in time. Do not run it."


def build_next_step(request: dict[str, Any]) -> str:
    """Returns what the model has to do now; '' for a request that is no ended approval."""
    data = request["response_data"]
    if request["response_type"] != "approval" or not isinstance(data, dict):
        return ""
    proposal = request["response_config"].get("proposal") or {}
    words = {"name": proposal.get("name", "the call"), "edited": join_names(data.get("edited", ()))}
    step = _STEPS[data["action"]] if request["answered_by"] == "human" else _BY_DEFAULT
    return step % words
