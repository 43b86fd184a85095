"""Waiting lists: how the response to a request is deferred while no thread waits for it.

The web server puts a `Deferred` into META. A view takes a place in a waiting list, and then looks
whether it can answer. If it cannot, it calls `keep`: the server drops the response, and calls
Django again when the topic is woken, the seconds are over, or the server stops. With `keep_open`
the response is sent as a part of a stream, and the next part is made later, never before the client
has taken the one before.

`Deferred` is a context manager around the whole life of a request, so its place is given back
whatever becomes of it. Other servers have none: there the view answers at once.
"""

import asyncio
from collections.abc import Iterable
from threading import Lock
from time import monotonic
from types import TracebackType
from typing import Any

DEFERRED = "web.deferred"
# libuv counts whole milliseconds, so a timer of the event loop may fire 1.5 ms early.
_TIMER_ERROR = 0.002  # seconds


class Waiter:
    """The place of a request that waits for a topic.

    `group` is whom it counts for. `state` is what the view needs when it is called again.
    """

    __slots__ = ("_future", "_list", "_until", "group", "is_woken", "state", "topic")

    def __init__(self, waiting: "WaitingList", topic: str, group: str, seconds: float) -> None:
        self._list = waiting
        self._future: asyncio.Future[None] | None = None  # while it waits
        self._until = monotonic() + seconds
        self.topic, self.group = topic, group
        self.is_woken = False
        self.state: Any = None

    @property
    def remaining(self) -> float:
        """The seconds that are left; none where the server stops."""
        return 0.0 if self._list.is_closed else max(0.0, self._until - monotonic())

    def shorten(self, seconds: float) -> None:
        """Caps the remaining wait at `seconds`."""
        self._until = min(self._until, monotonic() + seconds)

    def renew(self, seconds: float) -> None:
        """Sets the remaining wait, in seconds from now."""
        self._until = monotonic() + seconds

    def leave(self) -> None:
        """Gives the place back; a second time does nothing."""
        self._list.remove(self)

    async def wait(self, leaving: asyncio.Future[Any]) -> None:
        """Returns when the topic is woken, the time is over, or `leaving` is done."""
        loop = asyncio.get_running_loop()
        self._future = loop.create_future()
        timer = loop.call_later(self.remaining + _TIMER_ERROR, self.resume)
        leaving.add_done_callback(self.resume)
        try:
            if not (self.is_woken or self._list.is_closed):  # while the view was looking
                await self._future
        finally:
            timer.cancel()
            leaving.remove_done_callback(self.resume)
            self._future, self.is_woken = None, False

    def resume(self, *_: object) -> None:
        """Ends the wait. Only the event loop may call it."""
        if self._future is not None and not self._future.done():
            self._future.set_result(None)


class WaitingList:
    """The places of a worker process. Any thread may call its methods."""

    def __init__(self, size: int, per_group: int) -> None:
        self.size = size
        self.per_group = per_group
        self.is_closed = False
        self.loop: asyncio.AbstractEventLoop | None = None  # the server sets it
        self._lock = Lock()
        self._topics: dict[str, set[Waiter]] = {}
        self._groups: dict[str, int] = {}
        self._taken = 0

    @property
    def is_full(self) -> bool:
        """Tells whether nobody gets a place, whatever their group."""
        return self.is_closed or self._taken >= self.size

    def take(self, topic: str, group: str, seconds: float) -> Waiter | None:
        """Takes a place; None where all are taken, or too many by the group."""
        with self._lock:
            in_group = self._groups.get(group, 0)
            if self.is_full or in_group >= self.per_group:
                return None
            waiter = Waiter(self, topic, group, seconds)
            self._topics.setdefault(topic, set()).add(waiter)
            self._groups[group] = in_group + 1
            self._taken += 1
        return waiter

    def remove(self, waiter: Waiter) -> None:
        """Gives the place of a waiter back, if it has one."""
        with self._lock:
            waiters = self._topics.get(waiter.topic, set())
            if waiter not in waiters:
                return
            waiters.remove(waiter)
            if not waiters:
                del self._topics[waiter.topic]
            self._taken -= 1
            self._groups[waiter.group] -= 1
            if not self._groups[waiter.group]:
                del self._groups[waiter.group]

    def count(self) -> int:
        """Returns how many places are taken."""
        return self._taken

    def wake(self, topic: str) -> None:
        """Has every request that waits for the topic answered again."""
        with self._lock:
            waiters = list(self._topics.get(topic, ()))
        self._wake(waiters)

    def wake_all(self) -> None:
        """Has every request that waits answered again."""
        with self._lock:
            waiters = [waiter for topic in self._topics.values() for waiter in topic]
        self._wake(waiters)

    def close(self) -> None:
        """Has every request answered at once, and lets none wait any more."""
        self.is_closed = True
        self.wake_all()

    def _wake(self, waiters: list[Waiter]) -> None:
        for waiter in waiters:
            waiter.is_woken = True
        if waiters and self.loop is not None:
            self.loop.call_soon_threadsafe(_resume, waiters)


def _resume(waiters: Iterable[Waiter]) -> None:
    for waiter in waiters:
        waiter.resume()


class Deferred:
    """The response to one request, which a view may defer. Gives its place back when it ends."""

    __slots__ = (
        "_is_over",
        "has_streams",
        "is_kept",
        "is_open",
        "is_resumed",
        "streams",
        "waiter",
        "waiting",
    )

    def __init__(
        self, waiting: WaitingList, streams: WaitingList, *, has_streams: bool = True
    ) -> None:
        self.waiting = waiting
        self.streams = streams
        self.has_streams = has_streams  # whether this client may have one
        self.waiter: Waiter | None = None
        self._is_over = False
        self.is_resumed = False  # whether it has waited
        self.is_kept = False  # whether the view is to be called again
        self.is_open = False  # whether the response is a part of a stream

    def __enter__(self) -> "Deferred":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over = True
        if self.waiter is not None:
            self.waiter.leave()

    def take(self, waiting: WaitingList, topic: str, group: str, seconds: float) -> Waiter | None:
        """Takes a place for this request; None where there is none."""
        self.waiter = waiting.take(topic, group, seconds)
        if self.waiter is not None and self._is_over:  # a thread goes on for a request that ended
            self.waiter.leave()
        return self.waiter

    def keep(self) -> None:
        """Has this request answered later instead of now."""
        self.is_kept = True

    def keep_open(self) -> None:
        """Has this response sent as a part, and makes the next one later."""
        self.is_kept = self.is_open = True

    def resume(self) -> None:
        """Prepares for the next call of the view."""
        self.is_resumed, self.is_kept = True, False


def get_deferred(meta: dict[str, Any]) -> Deferred | None:
    """Returns what defers the response to a request; None where it must be answered at once."""
    deferred: Deferred | None = meta.get(DEFERRED)
    return deferred


def get_resumed(meta: dict[str, Any]) -> Waiter | None:
    """Returns the waiter of a request that has waited."""
    deferred = get_deferred(meta)
    return deferred.waiter if deferred and deferred.is_resumed else None


def is_kept(meta: dict[str, Any]) -> bool:
    """Tells whether the request is answered later, or its response goes on."""
    deferred = get_deferred(meta)
    return deferred is not None and deferred.is_kept
