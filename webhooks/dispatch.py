"""Sends due webhooks on threads of its own, so that slow receivers delay nobody else."""

import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace

import structlog
from django.conf import settings
from django.db import close_old_connections
from structlog.contextvars import bound_contextvars

from db.outages import Patience, outlast
from web import metrics
from webhooks import outbox
from webhooks.attempt import attempt, judge
from webhooks.engine import Engine
from webhooks.fair_queue import RESERVE, FairQueue
from webhooks.models import Delivery
from webhooks.outbox import Item

MIN_PAUSE, MAX_PAUSE = 0.02, 0.25  # seconds between two claims
log = structlog.get_logger(__name__)


class Dispatcher(Engine):
    """Claims due webhooks ahead of its threads, which take them from a fair queue."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        self.threads = threads
        self._queue: FairQueue[Item] = FairQueue(threads)
        self._lock = threading.Lock()  # of the queue
        self._pool = ThreadPoolExecutor(threads + RESERVE, thread_name_prefix="deliver")
        self._under_way: set[Future[None]] = set()
        self._wanting = threading.Event()  # set while threads have little or nothing left to do
        self._claim_after = 0.0
        self._walk = outbox.Walk()

    def stop(self) -> None:
        super().stop()
        self._wanting.set()

    def _send_due(self) -> int:
        """Also goes on with what a run has left that the database broke off."""
        count = 0
        while self.may_claim():
            self._wanting.clear()
            was_idle = self._is_idle()  # asked before: what is under way keeps a host's share busy
            claimed = self._claim()
            count += claimed
            if was_idle and not claimed:
                return count
            self._begin()
            if self._wanting.wait(MAX_PAUSE) and not self._is_idle():
                self._stopping.wait(self._claim_after - time.monotonic())
        with self._lock:
            not_begun = self._queue.take_late()
        give_back(not_begun)
        wait(self._under_way)
        return count

    def _claim(self) -> int:
        """Claims as many as the queue has room for, and returns how many there were."""
        with self._lock:
            limit, per_account, exceptions = self._queue.limits()
        began = time.monotonic()
        begin_by = began + spare_seconds()  # a little early: the lease begins after this
        items = outbox.claim_due(
            limit, per_account=per_account, exceptions=exceptions, walk=self._walk
        )
        with self._lock:
            for item in items:
                timed = replace(item, begin_by=begin_by)
                self._queue.add(item.account_id, timed, begin_by=begin_by, in_doubt=item.in_doubt)
        now = time.monotonic()
        # claims that take long get half of the time
        self._claim_after = now + max(MIN_PAUSE, now - began)
        return len(items)

    def _begin(self) -> None:
        """Starts a thread for each item that may begin now."""
        self._under_way = {future for future in self._under_way if not future.done()}
        while item := self._next():
            self._under_way.add(self._pool.submit(self._work, item))

    def _work(self, item: Item | None) -> None:
        """Sends one item after another on a thread, while the queue has one that may begin."""
        while item is not None:
            self._send(item)
            with self._lock:
                self._queue.done(item.account_id, in_doubt=item.in_doubt)
                is_low = self._queue.waiting < self.threads / 4
            item = self._next()
            if is_low or item is None:
                self._wanting.set()

    def _next(self) -> Item | None:
        """The next item to attempt; gives back those that it comes to too late."""
        with self._lock:
            late = self._queue.take_late(time.monotonic())
            item = None if self._stopping.is_set() else self._queue.take()
        give_back(late)
        return item

    def _is_idle(self) -> bool:
        with self._lock:
            return not self._queue.held

    def _send(self, item: Item) -> None:
        """Sends one item; after an unexpected error its lease runs out, as if we had crashed."""
        try:
            if self._stopping.is_set():
                outbox.give_back(item)
            else:
                attempt_and_record(item, self._stopping)
        except Exception:
            leave(item)


def attempt_and_record(item: Item, stopping: threading.Event) -> None:
    """Attempts a claimed delivery and records the outcome, in the name of the call behind it.

    A database that is away meanwhile, as in a failover, is awaited within the lease.
    """
    lease_ends = item.begin_by + settings.WEBHOOK_TIMEOUT_SECONDS
    with bound_contextvars(request_id=item.call_id):
        outcome = attempt(item, Patience(item.begin_by, stopping))
        state, delay = judge(outcome, failed_before=item.failed_attempts, is_test=item.is_test)
        is_recorded = outlast(
            lambda: outbox.record(item, outcome, state=state, delay=delay),
            Patience(lease_ends, stopping),
        )
        log.info(
            "webhook.attempted" if is_recorded else "webhook.lease_lost",
            delivery=item.delivery_id,
            state=state.value,
            status=outcome.status,
            error=outcome.error,
        )
    metrics.note_attempt("failed" if state == Delivery.State.WAITING else state.value)


def give_back(items: Iterable[Item]) -> None:
    """Undoes claims whose attempt was never begun."""
    for item in items:
        try:
            outbox.give_back(item)
        except Exception:  # the caller may hold another item that is to be attempted
            leave(item)


def leave(item: Item) -> None:
    """Leaves an item claimed: it is due again when its lease runs out."""
    log.exception("webhook.lost", delivery=item.delivery_id)
    close_old_connections()


def spare_seconds() -> float:
    """How long a claimed item may wait for a thread, so that its attempt ends within the lease."""
    return float(settings.WEBHOOK_LEASE_SECONDS - settings.WEBHOOK_TIMEOUT_SECONDS)


DISPATCHER = Dispatcher(settings.WEBHOOK_THREADS)
