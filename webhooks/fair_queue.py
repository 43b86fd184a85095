"""The queue of claimed webhooks: decides whose is attempted next. Pure.

A receiver that never responds holds its thread for the whole time limit, and nobody can tell it
beforehand. So an account gets at most half of the threads, even when it is alone, and one more
thread is reserved for accounts that have none. Hosts that could not be reached the last time
share half of the threads over all accounts: when a network is down, the receivers of many
accounts are silent at once. Items are claimed ahead of the threads, and that is bounded too: an
account may hold no more than what is left free for the others.
"""

import math
from collections import Counter, deque
from typing import Generic, TypeVar

# Items claimed for each thread: 3 × 15 s of slow receivers fit into a lease of 60 s. What waits
# longer all the same is given back.
AHEAD = 3
RESERVE = 1  # threads for accounts that have none
T = TypeVar("T")


class FairQueue(Generic[T]):
    """Claimed items by account: under way on a thread, or waiting for one."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.share = max(1, threads // 2)
        self._under_way: Counter[str] = Counter()
        self._in_doubt = 0  # of those under way
        self._waiting: dict[tuple[str, bool], deque[tuple[float, T]]] = {}

    @property
    def held(self) -> Counter[str]:
        """How many items each account holds, under way or waiting."""
        held = self._under_way.copy()
        for (account, _), queue in self._waiting.items():
            held[account] += len(queue)
        return held

    @property
    def free(self) -> int:
        """How many threads are idle, the reserve included."""
        return self.threads + RESERVE - self._under_way.total()

    @property
    def waiting(self) -> int:
        """How many items wait for a thread."""
        return sum(len(queue) for queue in self._waiting.values())

    def limits(self) -> tuple[int, int, dict[str, int]]:
        """How many more items may be claimed: in all, for one account, and the exceptions.

        The exceptions are accounts that may claim fewer, because they hold some already. An
        account that holds nothing may always claim one.
        """
        held = self.held
        room = max(1, AHEAD * self.threads - held.total())
        exceptions = {name: max(0, (room - n + 1) // 2) for name, n in held.items()}
        return room, (room + 1) // 2, exceptions

    def add(self, account: str, item: T, *, begin_by: float, in_doubt: bool = False) -> None:
        """Puts a claimed item in; it is late after `begin_by`, in seconds of any one clock."""
        self._waiting.setdefault((account, in_doubt), deque()).append((begin_by, item))

    def take(self) -> T | None:
        """The next item to attempt: the oldest one of the account with the fewest under way."""
        open_to = [kind for kind in self._waiting if self._may_begin(*kind)]
        if not open_to:
            return None
        kind = min(open_to, key=lambda kind: (self._under_way[kind[0]], self._waiting[kind][0][0]))
        _, item = self._pop(kind)
        account, in_doubt = kind
        self._under_way[account] += 1
        self._in_doubt += in_doubt
        return item

    def done(self, account: str, *, in_doubt: bool = False) -> None:
        """Reports that the attempt of an item that was taken has ended."""
        self._in_doubt -= in_doubt
        self._under_way[account] -= 1
        if not self._under_way[account]:
            del self._under_way[account]

    def take_late(self, now: float = math.inf) -> list[T]:
        """Removes and returns the items that are late by `now`; by default all that wait."""
        found: list[T] = []
        for kind in list(self._waiting):
            while kind in self._waiting and self._waiting[kind][0][0] < now:
                found.append(self._pop(kind)[1])
        return found

    def _may_begin(self, account: str, in_doubt: bool) -> bool:
        mine = self._under_way[account]
        if in_doubt and self._in_doubt >= self.share:
            return False
        return mine < self.share and self.free > (RESERVE if mine or in_doubt else 0)

    def _pop(self, kind: tuple[str, bool]) -> tuple[float, T]:
        queue = self._waiting[kind]
        first = queue.popleft()
        if not queue:
            del self._waiting[kind]
        return first
