"""Claimed items of a process: decides which one a thread sends next. Pure.

A receiver that never responds holds its thread for the whole time limit. So an account gets at most
half of the threads, even when it is alone, and one more thread is for accounts that have none.
Suspect items share half of the threads over all accounts: when a network is down, the receivers of
many accounts are silent at once. Items are claimed ahead of the threads. Of these, too, an account
gets about half, and so do all suspect items together.
"""

from collections import Counter, deque
from typing import Generic

from outbox.items import Bounds, C, Item

RESERVE = 1  # threads for accounts that have none
Key = tuple[str, str, bool]
"""An account, a lane, and whether it is suspect."""


class Queue(Generic[C]):
    """Items that are under way on a thread, or wait for one."""

    def __init__(self, threads: int, *, prefetch: int, has_lane_share: bool = False) -> None:
        self.threads = threads
        self.capacity = threads * prefetch
        self.share = max(1, threads // 2)
        self.has_lane_share = has_lane_share
        self._under_way: Counter[str] = Counter()
        self._lanes: Counter[str] = Counter()  # of those under way
        self._suspects = 0  # of those under way
        self._waiting: dict[Key, deque[Item[C]]] = {}

    @property
    def waiting(self) -> int:
        """How many items wait for a thread."""
        return sum(len(items) for items in self._waiting.values())

    @property
    def held(self) -> int:
        """How many items are under way or wait."""
        return self._under_way.total() + self.waiting

    def bounds(self) -> Bounds:
        """How much may be claimed. An account that holds nothing may always claim one."""
        accounts, lanes = self._under_way.copy(), self._lanes.copy()
        for (account, lane, _), items in self._waiting.items():
            accounts[account] += len(items)
            lanes[lane] += len(items)
        room = max(1, self.capacity - accounts.total())
        most = (self.capacity + 1) // 2
        waiting_suspects = sum(
            len(items) for (_, _, is_suspect), items in self._waiting.items() if is_suspect
        )
        return Bounds(
            limit=room,
            share=(room + 1) // 2,
            lane_share=(room + 1) // 2 if self.has_lane_share else room,
            suspects=max(0, most - self._suspects - waiting_suspects),
            full_accounts=[name for name, count in accounts.items() if count >= most],
            full_lanes=[
                name for name, count in lanes.items() if count >= most and self.has_lane_share
            ],
        )

    def add(self, item: Item[C]) -> None:
        key = (item.account, item.lane, item.is_suspect)
        self._waiting.setdefault(key, deque()).append(item)

    def take(self) -> Item[C] | None:
        """The next item to send: the oldest one of the account with the fewest under way."""
        open_to = [key for key in self._waiting if self._may_begin(*key)]
        if not open_to:
            return None
        key = min(
            open_to, key=lambda key: (self._under_way[key[0]], self._waiting[key][0].lease_ends)
        )
        item = self._pop(key)
        self._under_way[item.account] += 1
        self._lanes[item.lane] += 1
        self._suspects += item.is_suspect
        return item

    def done(self, item: Item[C]) -> None:
        """Reports that the attempt of an item that was taken has ended."""
        self._suspects -= item.is_suspect
        for counter, name in ((self._under_way, item.account), (self._lanes, item.lane)):
            counter[name] -= 1
            if not counter[name]:
                del counter[name]

    def take_late(self, lease_ends: float) -> list[Item[C]]:
        """Removes and returns the items whose lease ends before."""
        found: list[Item[C]] = []
        for key in list(self._waiting):
            while key in self._waiting and self._waiting[key][0].lease_ends < lease_ends:
                found.append(self._pop(key))
        return found

    def _may_begin(self, account: str, lane: str, is_suspect: bool) -> bool:
        if is_suspect and self._suspects >= self.share:
            return False
        if self.has_lane_share and self._lanes[lane] >= self.share:
            return False
        mine, total = self._under_way[account], self._under_way.total()
        most = self.threads if mine or is_suspect else self.threads + RESERVE
        return mine < self.share and total < most

    def _pop(self, key: Key) -> Item[C]:
        items = self._waiting[key]
        first = items.popleft()
        if not items:
            del self._waiting[key]
        return first
