"""Whose claimed delivery is attempted next. Pure.

A receiver that never answers keeps its thread for as long as an attempt may take, and nobody can
tell it beforehand. So an account gets at most half of the threads, however alone it is; there is
one thread more for an account that has none. Claims are made ahead of the threads, so they are
bounded too: an account may hold no more than what is left free for the others.
"""

import math
from collections import Counter, deque
from typing import Generic, TypeVar

# Claims for each thread: 3 × 15 s of slow receivers fit into a lease of 60 s. What comes to a
# thread too late all the same is given back.
AHEAD = 3
RESERVE = 1  # threads for accounts that have none
T = TypeVar("T")


class Turns(Generic[T]):
    """What is claimed, by account: under way on a thread, or waiting for one."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.share = max(1, threads // 2)
        self._under_way: Counter[str] = Counter()
        self._waiting: dict[str, deque[tuple[float, T]]] = {}

    @property
    def held(self) -> Counter[str]:
        """How many deliveries each account has claimed."""
        waiting = {account: len(queue) for account, queue in self._waiting.items()}
        return self._under_way + Counter(waiting)

    @property
    def free(self) -> int:
        """How many threads have nothing to do, the reserve included."""
        return self.threads + RESERVE - self._under_way.total()

    @property
    def waiting(self) -> int:
        """How many deliveries wait for a thread."""
        return sum(len(queue) for queue in self._waiting.values())

    def bounds(self) -> tuple[int, int, dict[str, int]]:
        """How many more may be claimed by all, by one account, and by those accounts that may
        claim fewer than others, because they hold some already.

        Whoever holds nothing may always claim one.
        """
        held = self.held
        room = max(1, AHEAD * self.threads - held.total())
        fewer = {name: max(0, (room - n + 1) // 2) for name, n in held.items()}
        return room, (room + 1) // 2, fewer

    def add(self, account: str, item: T, *, begin_by: float) -> None:
        """Takes a claim; it is late after `begin_by`, in seconds of whatever clock."""
        self._waiting.setdefault(account, deque()).append((begin_by, item))

    def take(self) -> T | None:
        """The next one to attempt: of the account with the fewest under way, the oldest claim."""
        open_to = [account for account in self._waiting if self._may_begin(account)]
        if not open_to:
            return None
        account = min(open_to, key=lambda name: (self._under_way[name], self._waiting[name][0][0]))
        _, item = self._pop(account)
        self._under_way[account] += 1
        return item

    def done(self, account: str) -> None:
        """One that was taken has ended."""
        self._under_way[account] -= 1
        if not self._under_way[account]:
            del self._under_way[account]

    def late(self, now: float = math.inf) -> list[T]:
        """Takes out what waits for a thread too long by now; by default everything that waits."""
        found: list[T] = []
        for account in list(self._waiting):
            while account in self._waiting and self._waiting[account][0][0] < now:
                found.append(self._pop(account)[1])
        return found

    def _may_begin(self, account: str) -> bool:
        mine = self._under_way[account]
        return mine < self.share and self.free > (RESERVE if mine else 0)

    def _pop(self, account: str) -> tuple[float, T]:
        queue = self._waiting[account]
        first = queue.popleft()
        if not queue:
            del self._waiting[account]
        return first
