"""What a channel says about its messages; the engine does the rest."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Generic

from outbox.items import C, Claimed, Item, Outcome, Result

NOTHING: Mapping[Result, str] = MappingProxyType({})
ONE_LANE = "''::text"  # for a channel whose accounts have one lane each


class Channel(ABC, Generic[C]):
    """A kind of message: how to load it, to send it and to judge the response, and what follows.

    The attributes from `table` to `given_back` are SQL. A **lane** is where messages of an account
    queue behind each other, such as a host: a few of a lane are under way at a time, the oldest
    first.
    """

    name: ClassVar[str]
    table: ClassVar[str]
    waiting: ClassVar[str]  # which rows wait, whether they are due or not
    account: ClassVar[str] = "account_id"
    lane: ClassVar[str]  # an index on account, lane and next_attempt_at serves the claim
    joins: ClassVar[str] = ""  # of `lanes (account, lane)`, for the next three
    is_open: ClassVar[str] = "true"  # whether a lane may send at all
    is_suspect: ClassVar[str] = "false"  # whether its attempts may cost a whole time limit
    per_lane: ClassVar[str] = "1000000"  # how many of a lane are under way, over all processes
    together: ClassVar[str] = "entry.id = picked.id"  # which rows are claimed with the picked one
    # Of a claimed row `entry`; each gets its WHERE from the engine.
    sent: ClassVar[str]
    failed: ClassVar[str]
    retried: ClassVar[str] = ""  # assignments in addition to the engine's
    in_time: ClassVar[str] = "true"  # whether the row has not expired after `delay` seconds
    before_failing: ClassVar[str] = ""  # a statement of its own, in the same transaction
    follows: ClassVar[Mapping[Result, str]] = NOTHING  # CTEs after `fenced`, the recorded rows
    given_back: ClassVar[str] = ""  # the same, for rows that were not attempted

    delays: ClassVar[Sequence[int]]  # seconds after each failed attempt
    prefetch: ClassVar[int] = 3  # claimed for each thread
    has_lane_share: ClassVar[bool] = False  # a lane has half of the threads, over all accounts
    records_apart: ClassVar[bool] = False  # one thread with one connection records all outcomes

    @property
    @abstractmethod
    def threads(self) -> int:
        """How many messages a process sends at once."""

    @property
    @abstractmethod
    def lease(self) -> float:
        """The seconds for which a claim holds."""

    @property
    @abstractmethod
    def longest(self) -> float:
        """The most seconds that an attempt can take."""

    @property
    def scale(self) -> float:
        """Stretches `delays`."""
        return 1.0

    @abstractmethod
    def load(self, claimed: Sequence[Claimed]) -> list[Item[C]]:
        """Reads what to send, in the claim's transaction."""

    @abstractmethod
    def send(self, item: Item[C], stopping: threading.Event) -> Outcome:
        """Makes one attempt and judges the response. Whatever goes wrong is an outcome."""

    def claim_params(self) -> dict[str, Any]:
        """The parameters of `joins`, `is_suspect` and `per_lane`."""
        return {}

    def params(self, item: Item[C], outcome: Outcome) -> dict[str, Any]:
        """The parameters of `sent`, `failed`, `retried`, `in_time` and `follows`."""
        return {"error": outcome.error}

    def note(self, item: Item[C], outcome: Outcome, result: Result | None) -> None:
        """Logs and counts an attempt; the result is None if the lease was lost."""

    def rest(self) -> None:
        """Closes connections. The engine calls it when nothing is under way."""

    def may_begin_until(self, item: Item[C]) -> float:
        """The moment after which an attempt could outlive its lease (`time.monotonic`)."""
        return item.lease_ends - self.longest
