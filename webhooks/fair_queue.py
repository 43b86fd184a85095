"""Whose claimed delivery is attempted next. Pure.

A receiver that never answers keeps its thread for as long as an attempt may take, and nobody can
tell it beforehand. So an account gets at most half of the threads, however alone it is; there is
one thread more for an account that has none. What goes to hosts that could not be reached the last
time gets half of the threads, too, whoever it belongs to: when a network is down, the receivers
of many accounts are silent at once. Claims are made ahead of the threads, so they are
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
        self._in_doubt = 0  # of those under way
        self._waiting: dict[tuple[str, bool], deque[tuple[float, T]]] = {}

    @property
    def held(self) -> Counter[str]:
        """How many deliveries each account has claimed."""
        held = self._under_way.copy()
        for (account, _), queue in self._waiting.items():
            held[account] += len(queue)
        return held

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

    def add(self, account: str, item: T, *, begin_by: float, in_doubt: bool = False) -> None:
        """Takes a claim; it is late after `begin_by`, in seconds of whatever clock."""
        self._waiting.setdefault((account, in_doubt), deque()).append((begin_by, item))

    def take(self) -> T | None:
        """The next one to attempt: of the account with the fewest under way, the oldest claim."""
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
        """One that was taken has ended."""
        self._in_doubt -= in_doubt
        self._under_way[account] -= 1
        if not self._under_way[account]:
            del self._under_way[account]

    def late(self, now: float = math.inf) -> list[T]:
        """Takes out what waits for a thread too long by now; by default everything that waits."""
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
