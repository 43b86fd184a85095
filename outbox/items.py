"""What the engine and its channels hand to each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

C = TypeVar("C")


class Result(Enum):
    """What follows from an attempt."""

    SENT = "sent"
    RETRY = "retry"  # until the channel's schedule is used up, or the row expires
    FAILED = "failed"  # for good


@dataclass(frozen=True, slots=True, kw_only=True)
class Item(Generic[C]):
    """One message to send. It is one row, or several that are sent together.

    `content` belongs to the channel. `lease_ends` is in seconds of `time.monotonic`.
    """

    ids: tuple[str, ...]
    claim_id: str
    account: str
    lane: str
    content: C
    failed_attempts: int = 0
    is_suspect: bool = False
    call_id: str | None = None
    lease_ends: float = 0.0


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claimed row. The attempt of a suspect one may take the whole time limit."""

    claim_id: str
    id: str
    account: str
    lane: str
    failed_attempts: int
    is_suspect: bool

    def to_item(self, content: C, call_id: str | None = None) -> Item[C]:
        """The item of this row alone."""
        return Item(
            ids=(self.id,),
            claim_id=self.claim_id,
            account=self.account,
            lane=self.lane,
            content=content,
            failed_attempts=self.failed_attempts,
            is_suspect=self.is_suspect,
            call_id=call_id,
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended. `retry_after` is in seconds; `details` belong to the channel.

    `is_unreachable`: no response came. `stops_run`: no other message of the channel would get
    through now. `instead`: items that are sent one by one instead of this one.
    """

    result: Result
    error: str = ""
    retry_after: float | None = None
    is_unreachable: bool = False
    stops_run: bool = False
    details: Any = None
    instead: tuple[Item[Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much to claim: in all, for one account, for one lane over all accounts, of suspects.

    Nothing is claimed for accounts and lanes that are full.
    """

    limit: int
    share: int
    lane_share: int
    suspects: int
    full_accounts: Sequence[str] = ()
    full_lanes: Sequence[str] = ()
