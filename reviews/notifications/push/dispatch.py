"""Sends pushes: those of a new request at once, and in the worker whatever is due."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial

from db import deliveries
from reviews.notifications.outcome import Outcome
from reviews.notifications.push import outbox
from reviews.notifications.push.attempt import SECONDS, attempt, push
from reviews.notifications.push.message import Message, Target
from reviews.notifications.push.outbox import LEASE, Item
from reviews.notifications.push.pool import Pool
from reviews.notifications.push.recorder import Recorder
from webhooks.engine import Engine

THREADS = 8
ROOM = 96  # of the queue before the threads
PER_HOST = 4  # claimed of a host at once; a second claim may add as many


class Dispatcher(Engine):
    """The pushes of a process: a few threads send them, and one recorder writes the outcomes.

    It works in web processes and in workers alike.
    """

    def __init__(self, threads: int = THREADS, room: int = ROOM) -> None:
        super().__init__()
        self.pool: Pool[Outcome | None] = Pool(threads, room)
        self.recorder = Recorder()

    def send_at_once(self, items: Sequence[Item]) -> list[Future[Outcome | None]]:
        """Has the threads of this process send pushes now; the caller does not wait for them.

        Those that find no room are left to the worker, and have no future.
        """
        return [future for item in items if (future := self.submit(item))]

    def submit(self, item: Item) -> Future[Outcome | None] | None:
        """Has a thread attempt an item; None where it is given back.

        That is where there is no room, and where nothing may be sent.
        """
        begin_by = time.monotonic() + LEASE - SECONDS
        work, is_on = partial(self._attempt, item, begin_by), deliveries.are_on()
        future = self.pool.offer(work) if is_on else None
        if future is None:
            self.recorder.put(item, None)
        return future

    def try_now(
        self, message: Message, target: Target, record: Callable[[Outcome | None], None]
    ) -> None:
        """Has a thread push a message without a row, and the recorder call `record`.

        The outcome is None where there is no room, and nothing is sent.
        """

        def work() -> Outcome:
            outcome = push(message, target)
            self.recorder.write(partial(record, outcome))
            return outcome

        if self.pool.offer(work) is None:
            self.recorder.write(partial(record, None))

    def _send_due(self) -> int:
        under_way: dict[Future[Outcome | None], str] = {}
        count = 0
        while self.may_claim():
            count += self._claim(under_way)
            if not under_way:
                break
            for future in wait(under_way, timeout=1, return_when=FIRST_COMPLETED).done:
                del under_way[future]
        wait(under_way)
        self.recorder.settle()
        return count

    def _claim(self, under_way: dict[Future[Outcome | None], str]) -> int:
        """Claims an item for each idle thread, adds what begins, and returns how many it claimed.

        Hosts that have their share of threads get no other one.
        """
        idle = self.pool.threads - len(under_way)
        busy = [host for host, count in Counter(under_way.values()).items() if count >= PER_HOST]
        items = outbox.claim_due(idle, per_host=PER_HOST, busy_hosts=busy) if idle else []
        for item in items:
            if future := self.submit(item):
                under_way[future] = item.host
        return len(items)

    def _attempt(self, item: Item, begin_by: float) -> Outcome | None:
        """Attempts an item on a thread of the pool; None where it is given back."""
        may_begin = not item.can_be_sent or self.may_begin(begin_by)
        outcome = attempt(item) if may_begin else None
        self.recorder.put(item, outcome)
        return outcome


DISPATCHER = Dispatcher()
