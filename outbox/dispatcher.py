"""Sends the due rows of a channel on threads, so that slow receivers delay nobody else."""

import math
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Generic, TypeVar

import structlog
from django.db import close_old_connections
from structlog.contextvars import bound_contextvars

from db import deliveries
from db.outages import retry_until
from outbox import claiming, recording
from outbox.channel import Channel
from outbox.items import C, Item, Outcome
from outbox.queue import RESERVE, Queue
from outbox.threads import Threads

MIN_PAUSE, MAX_PAUSE = 0.02, 0.25  # seconds between two claims
THREADS_IDLE = 30.0  # seconds after which an idle thread ends
RECORDER_IDLE = 2.0  # the same for the recorder; a web process has few connections
T = TypeVar("T")
ALL: "weakref.WeakSet[Dispatcher[Any]]" = weakref.WeakSet()  # of this process
log = structlog.get_logger(__name__)


class Dispatcher(Generic[C]):
    """Claims ahead of its threads, which take the items from a queue."""

    def __init__(self, channel: Channel[C], *, threads: int = 0, room: int = 0) -> None:
        self.channel = channel
        count = threads or channel.threads
        self.queue: Queue[C] = Queue(
            count, prefetch=channel.prefetch, has_lane_share=channel.has_lane_share
        )
        self.room = room or 12 * count  # of `send_now`
        self.threads = Threads(count + RESERVE, name=channel.name, idle=THREADS_IDLE)
        self.recorder = Threads(1, name=f"{channel.name} recorder", idle=RECORDER_IDLE)
        self._lock = threading.Lock()  # of the queue
        self._running = threading.Lock()
        self._stopping = threading.Event()
        self._halted = False
        self._wanting = threading.Event()  # set while threads have little or nothing left to do
        self._claim_after = 0.0
        self._start = claiming.FIRST
        ALL.add(self)

    def run_due(self) -> int:
        """Sends until nothing is due, and returns how many items it claimed.

        0 while another run is under way in this process, and while deliveries are off.
        """
        if not deliveries.are_on() or not self._running.acquire(blocking=False):
            return 0
        try:
            return self._send_due()
        finally:
            self._running.release()

    def send_now(self, items: Iterable[Item[C]]) -> None:
        """Queues claimed items for the threads of this process, and returns at once.

        Gives back the items that find no room, and all items while deliveries are off.
        """
        is_on = deliveries.are_on()
        lease_ends = time.monotonic() + self.channel.lease
        for item in items:
            with self._lock:
                has_room = is_on and self.queue.held < self.room
                if has_room:
                    self.queue.add(replace(item, lease_ends=lease_ends))
            if not has_room:
                self.recorder.submit(partial(self._give_back, [item]))
        self._begin()

    def do(self, work: Callable[[], T], then: Callable[[T | None], None]) -> None:
        """Has a thread do something that has no row, and the recorder write its result.

        Where too much work waits for a thread, it does nothing, and the result is None.
        """

        def run() -> None:
            result = work()
            self.recorder.submit(partial(retry_until, partial(then, result)))

        if self.threads.pending < self.room:
            self.threads.submit(run)
        else:
            self.recorder.submit(partial(retry_until, partial(then, None)))

    def stop(self) -> None:
        """Ends the run after the attempts under way, and gives back all other items."""
        self._stopping.set()
        self._wanting.set()

    def settle(self) -> None:
        """Waits until everything that was claimed is sent and recorded."""
        self.threads.settle()
        self.recorder.settle()

    def close(self) -> None:
        """Waits for the threads, which close their connections."""
        self.threads.close()
        self.recorder.close()

    def may_claim(self) -> bool:
        """Whether to claim more: neither this process, the run nor all deliveries were stopped."""
        return not self._stopping.is_set() and not self._halted and deliveries.are_on()

    def _send_due(self) -> int:
        """Also sends what an earlier run left in the queue because the database failed."""
        count, self._halted = 0, False
        try:
            while self.may_claim():
                self._wanting.clear()
                was_idle = self._is_idle()  # asked before: what is under way keeps a lane's share
                claim = self._claim()
                count += len(claim.items)
                if was_idle and not claim.rows:
                    break
                self._begin(is_run=True)
                if self._wanting.wait(MAX_PAUSE) and not self._is_idle():
                    self._stopping.wait(self._claim_after - time.monotonic())
            with self._lock:
                not_begun = self.queue.take_late(math.inf)
            self._give_back(not_begun)
            self.settle()
        finally:
            if self._is_idle():
                self.channel.rest()
        return count

    def _claim(self) -> claiming.Claim[C]:
        """Claims as many as the queue has room for, from the lanes that follow."""
        with self._lock:
            bounds = self.queue.bounds()
        came_round = self._start == claiming.FIRST
        while True:
            began = time.monotonic()
            claim = claiming.claim(self.channel, bounds, start=self._start)
            self._start = claim.following
            if claim.rows or (came_round and self._start == claiming.FIRST):
                break
            came_round = came_round or self._start == claiming.FIRST
        lease_ends = began + self.channel.lease  # a little early: the lease begins after this
        with self._lock:
            for item in claim.items:
                self.queue.add(replace(item, lease_ends=lease_ends))
        now = time.monotonic()
        # claims that take long get half of the time
        self._claim_after = now + max(MIN_PAUSE, now - began)
        return claim

    def _begin(self, *, is_run: bool = False) -> None:
        """Starts a thread for each item that may begin now. A single thread is the run's own."""
        while item := self._next():
            if is_run and self.queue.threads == 1:
                self._work(item)
            else:
                self.threads.submit(partial(self._work, item))

    def _work(self, item: Item[C] | None) -> None:
        """Sends one item after another on a thread, while the queue has one that may begin."""
        while item is not None:
            self._send(item)
            with self._lock:
                self.queue.done(item)
                is_low = self.queue.waiting < self.queue.threads / 4
            item = self._next()
            if is_low or item is None:
                self._wanting.set()

    def _next(self) -> Item[C] | None:
        """Returns the next item to send, and gives back those whose lease ends too soon."""
        with self._lock:
            late = self.queue.take_late(time.monotonic() + self.channel.longest)
            stops = self._stopping.is_set() or self._halted
            item = None if stops else self.queue.take()
        if late:
            self._apart(partial(self._give_back, late))
        return item

    def _is_idle(self) -> bool:
        with self._lock:
            return not self.queue.held

    def _send(self, item: Item[C]) -> None:
        """Sends an item. After an unexpected error it stays claimed, as after a crash."""
        try:
            if self._stopping.is_set() or time.monotonic() > self.channel.may_begin_until(item):
                self._apart(partial(self._give_back, [item]))
                return
            with bound_contextvars(request_id=item.call_id):
                outcome = self.channel.send(item, self._stopping)
            self._halted = self._halted or outcome.stops_run
            for part in outcome.instead:
                self._send(part)
            if not outcome.instead:
                self._apart(partial(self._record, item, outcome))
        except Exception:
            self._leave(item)

    def _apart(self, write: Callable[[], None]) -> None:
        """Writes now, or hands the write to the recorder."""
        if self.channel.records_apart:
            self.recorder.submit(write)
        else:
            write()

    def _record(self, item: Item[C], outcome: Outcome) -> None:
        """Records an outcome. Waits for a database that is away until the lease ends."""
        try:
            result = retry_until(
                lambda: recording.record(self.channel, item, outcome),
                until=item.lease_ends,
                stopping=self._stopping,
            )
            with bound_contextvars(request_id=item.call_id):
                self.channel.note(item, outcome, result)
        except Exception:
            self._leave(item)

    def _give_back(self, items: Iterable[Item[C]]) -> None:
        for item in items:
            try:
                retry_until(partial(recording.give_back, self.channel, [item]))
            except Exception:  # the caller may hold another item that is to be attempted
                self._leave(item)

    def _leave(self, item: Item[C]) -> None:
        """Leaves an item claimed: it is due again when its lease runs out."""
        log.exception("outbox.lost", channel=self.channel.name, ids=item.ids)
        close_old_connections()


def stop_all() -> None:
    """Stops the dispatchers of this process."""
    for dispatcher in list(ALL):
        dispatcher.stop()
