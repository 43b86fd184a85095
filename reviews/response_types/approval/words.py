"""Says in words what was decided about a proposal."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from reviews.response_types.approval.names import APPROVE, EDIT, REJECT, RESPOND
from web.phrases import Phrase, say
from web.sanitize import show_invisible

MAX_NAMED: Final = 8  # arguments in a sentence

ACTION_LABELS: Final = {
    APPROVE: say("Approve"),
    EDIT: say("Edit and approve"),
    REJECT: say("Reject"),
    RESPOND: say("Reply"),
}
DONE_LABELS: Final = {
    APPROVE: say("Approved"),
    EDIT: say("Approved with changes"),
    REJECT: say("Rejected"),
    RESPOND: say("Replied"),
}
RISK_LABELS: Final = {
    "low": say("Low risk"),
    "medium": say("Medium risk"),
    "high": say("High risk"),
}


def format_decision(answer: object) -> Phrase:
    """Formats a decision, a draft of one or a default: 'Approved with changes: amount'."""
    given: Mapping[str, Any] = answer if isinstance(answer, Mapping) else {}
    action = given.get("action")
    done = DONE_LABELS.get(action) if isinstance(action, str) else None
    if done is None:
        return say("nothing")
    detail = join_names(given.get("edited", ())) if action == EDIT else given.get("message")
    return say("%(what)s: %(detail)s", what=done, detail=detail) if detail else done


def join_names(names: Iterable[str]) -> str:
    """Joins names as in a list; of many only the first."""
    every = [show_invisible(str(name)) for name in names]
    named = ", ".join(every[:MAX_NAMED])
    rest = len(every) - MAX_NAMED
    return say("%(names)s and %(count)s more", names=named, count=rest) if rest > 0 else named
