"""The states and transitions of a request (docs/contract.md, States and transitions). Pure.

`conditions` repeats in SQL what an index or a guarded statement has to know of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from types import MappingProxyType
from typing import Final, Protocol

PENDING: Final = "pending"
CLAIMED: Final = "claimed"
COMPLETED: Final = "completed"
TIMEOUT: Final = "timeout"
CANCELLED: Final = "cancelled"

STATUSES: Final = (PENDING, CLAIMED, COMPLETED, TIMEOUT, CANCELLED)
OPEN: Final = frozenset({PENDING, CLAIMED})
FINAL: Final = frozenset({COMPLETED, TIMEOUT, CANCELLED})
# The source of an answer that no standing grant gave.
ANSWERED_BY: Final[Mapping[str, str]] = MappingProxyType({COMPLETED: "human", TIMEOUT: "default"})


def name_source(status: str, *, by_grant: bool) -> str | None:
    """Names the source of the answer: a person, a standing grant of a person, or the default."""
    return "grant" if by_grant and status == COMPLETED else ANSWERED_BY.get(status)


class Claims(Enum):
    """The claims that a transition may end."""

    ANY = "any"
    OWN = "the person's own, while its lease runs"
    LAPSED = "those whose lease has expired"


class Stored(Protocol):
    """The columns of a request that decide which transitions it may make."""

    status: str
    timeout_at: datetime
    claimed_by_id: str | None
    claim_expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Transition:
    """A change of status. `event` names the webhook event, None where there is none.

    A transition is possible until the deadline of the request, or only `after_deadline`.
    """

    name: str
    sources: frozenset[str]
    target: str
    event: str | None = None
    claims: Claims = Claims.ANY
    after_deadline: bool = False

    def is_allowed(self, request: Stored, *, now: datetime, person_id: str | None = None) -> bool:
        """Tells whether the person may move the request at `now`, read while it is locked."""
        if request.status not in self.sources:
            return False
        if (request.timeout_at <= now) != self.after_deadline:
            return False
        if request.status != CLAIMED or self.claims is Claims.ANY:
            return True
        assert request.claim_expires_at is not None
        has_lapsed = request.claim_expires_at <= now
        if self.claims is Claims.LAPSED:
            return has_lapsed
        return request.claimed_by_id == person_id and not has_lapsed


CLAIM: Final = Transition("claim", frozenset({PENDING}), CLAIMED, "request.claimed")
RELEASE: Final = Transition("release", frozenset({CLAIMED}), PENDING, claims=Claims.OWN)
LAPSE: Final = Transition("lapse", frozenset({CLAIMED}), PENDING, claims=Claims.LAPSED)
ANSWER: Final = Transition("answer", OPEN, COMPLETED, "request.completed", Claims.OWN)
TIME_OUT: Final = Transition("time_out", OPEN, TIMEOUT, "request.timeout", after_deadline=True)
CANCEL: Final = Transition("cancel", frozenset({PENDING}), CANCELLED, "request.cancelled")
GIVE_UP: Final = Transition("give_up", OPEN, TIMEOUT, "request.timeout")
WITHDRAW: Final = Transition("withdraw", OPEN, CANCELLED, "request.cancelled")

TRANSITIONS: Final = (CLAIM, RELEASE, LAPSE, ANSWER, TIME_OUT, GIVE_UP, CANCEL, WITHDRAW)
EVENTS: Final = tuple(dict.fromkeys(each.event for each in TRANSITIONS if each.event))
# Only webhook endpoints get it: receivers of before do not know it.
CREATED: Final = "request.created"
CHOICES: Final = (CREATED, *EVENTS)
"""The events that a webhook endpoint can choose."""
