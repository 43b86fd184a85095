"""The states and transitions of a request (specification, States and transitions). Pure."""

from dataclasses import dataclass
from typing import Final

PENDING: Final = "pending"
CLAIMED: Final = "claimed"
COMPLETED: Final = "completed"
TIMEOUT: Final = "timeout"
CANCELLED: Final = "cancelled"

STATUSES: Final = (PENDING, CLAIMED, COMPLETED, TIMEOUT, CANCELLED)
OPEN: Final = frozenset({PENDING, CLAIMED})
FINAL: Final = frozenset({COMPLETED, TIMEOUT, CANCELLED})


@dataclass(frozen=True, slots=True)
class Transition:
    """A change of status. `event` names the webhook event, None where there is none."""

    name: str
    sources: frozenset[str]
    target: str
    event: str | None = None


CLAIM: Final = Transition("claim", frozenset({PENDING}), CLAIMED, "request.claimed")
RELEASE: Final = Transition("release", frozenset({CLAIMED}), PENDING)
LAPSE: Final = Transition("lapse", frozenset({CLAIMED}), PENDING)
ANSWER: Final = Transition("answer", OPEN, COMPLETED, "request.completed")
TIME_OUT: Final = Transition("time_out", OPEN, TIMEOUT, "request.timeout")
CANCEL: Final = Transition("cancel", frozenset({PENDING}), CANCELLED, "request.cancelled")
WITHDRAW: Final = Transition("withdraw", OPEN, CANCELLED, "request.cancelled")

TRANSITIONS: Final = (CLAIM, RELEASE, LAPSE, ANSWER, TIME_OUT, CANCEL, WITHDRAW)
EVENTS: Final = tuple(dict.fromkeys(each.event for each in TRANSITIONS if each.event))
