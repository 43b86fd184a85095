"""Records the outcomes of pushes, from one thread with one connection to the database."""

import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial

import structlog
from django.db import connection

from db.outages import outlast
from reviews.notifications.outcome import Outcome, Result, judge
from reviews.notifications.push import outbox
from reviews.notifications.push.attempt import DELAYS
from reviews.notifications.push.outbox import Item
from web import metrics

Ended = tuple[Item, Outcome | None]
Write = Callable[[], None]
IDLE_SECONDS = 2.0  # after which the connection is closed
MAX_BATCH = 200
log = structlog.get_logger(__name__)


class Recorder:
    """Takes the outcomes of items from any thread. An item without an outcome is given back."""

    def __init__(self, idle: float = IDLE_SECONDS) -> None:
        self.idle = idle
        self._queue: queue.Queue[Ended | Write] = queue.Queue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def put(self, item: Item, outcome: Outcome | None) -> None:
        self._add((item, outcome))

    def write(self, write: Write) -> None:
        """Has the thread call `write`, and once more where that failed."""
        self._add(write)

    def _add(self, entry: Ended | Write) -> None:
        with self._lock:
            self._queue.put(entry)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
                self._thread.start()

    def settle(self) -> None:
        """Waits until everything so far is recorded, or has failed to be."""
        self._queue.join()

    def close(self, seconds: float = 10.0) -> None:
        """Waits until the thread has ended, and its connection is closed."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def _run(self) -> None:
        """Records until there was nothing to record for a while."""
        try:
            while batch := self._next():
                self._write(batch)
                for _ in batch:
                    self._queue.task_done()
        finally:
            connection.close()

    def _next(self) -> list[Ended | Write]:
        try:
            batch = [self._queue.get(timeout=self.idle)]
        except queue.Empty:
            with self._lock:
                if self._queue.empty():
                    self._thread = None
                    return []
            return self._next()
        while len(batch) < MAX_BATCH and not self._queue.empty():
            batch.append(self._queue.get_nowait())
        return batch

    def _write(self, batch: Sequence[Ended | Write]) -> None:
        for write in statements(batch):
            try:
                outlast(write)
            except Exception:
                # when the lease runs out, the push is due again
                log.exception("push.not_recorded")
                connection.close()


def statements(batch: Sequence[Ended | Write]) -> list[Write]:
    """The statements that record a batch.

    One for the accepted pushes of each request, and one for each other push; what is given back
    comes last.
    """
    accepted: defaultdict[tuple[str, str], list[Item]] = defaultdict(list)
    returned: list[Item] = []
    others: list[Write] = [entry for entry in batch if callable(entry)]
    for item, outcome in (entry for entry in batch if isinstance(entry, tuple)):
        if outcome is None:
            returned.append(item)
        elif outcome.result == Result.ACCEPTED:
            metrics.note_push(outcome.result.value)
            accepted[item.request_id, item.claim_id].append(item)
        else:
            others.append(partial(record_failure, item, outcome))
    for items in accepted.values():
        log.info(
            "push.accepted",
            request_id=items[0].call_id,
            request=items[0].request_id,
            count=len(items),
        )
    return [
        *others,
        *(partial(outbox.record_sent, items) for items in accepted.values()),
        partial(outbox.give_back, returned),
    ]


def record_failure(item: Item, outcome: Outcome) -> None:
    """Judges and records a push that was not accepted."""
    state, delay = judge(outcome, delays=DELAYS, failed_before=item.failed_attempts)
    metrics.note_push(outcome.result.value)
    log.info(
        "push.failed",
        request_id=item.call_id,
        request=item.request_id,
        subscription=item.target.subscription_id if item.target else None,
        result=outcome.result.value,
        state=state.value,
        error=outcome.error,
    )
    outbox.record(item, outcome, state=state, delay=delay)
