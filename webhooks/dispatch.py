"""Delivers what is due on threads of its own, so that slow receivers hold up nothing else."""

import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait

import structlog
from django.conf import settings
from django.db import close_old_connections

from webhooks import outbox
from webhooks.delivery import deliver
from webhooks.fair_queue import RESERVE, Turns
from webhooks.outbox import Job

PACE, LULL = 0.02, 0.25  # seconds between two claims: at least, and at most
log = structlog.get_logger(__name__)


class Dispatcher:
    """Claims what is due and hands it to its threads, until nothing is due any more.

    One run at a time in a process; it goes on with what a run left behind that the database
    broke off. `stop` ends it after the attempts that are under way, and gives back what was
    claimed ahead.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._turns: Turns[Job] = Turns(threads)
        self._lock = threading.Lock()  # of the turns
        self._pool = ThreadPoolExecutor(threads + RESERVE, thread_name_prefix="deliver")
        self._working: set[Future[None]] = set()
        self._running = threading.Lock()
        self._stopping = threading.Event()
        self._wanting = threading.Event()  # set where a thread has little or nothing to do next
        self._claim_after = 0.0

    def stop(self) -> None:
        self._stopping.set()
        self._wanting.set()

    def run(self) -> int:
        """Delivers, and returns how many claims it made; 0 where another run is under way."""
        if not self._running.acquire(blocking=False):
            return 0
        try:
            return self._drain()
        finally:
            self._running.release()

    def _drain(self) -> int:
        count = 0
        while not self._stopping.is_set():
            self._wanting.clear()
            claimed = self._claim()
            count += claimed
            if not claimed and self._is_idle():
                return count
            self._begin()
            if self._wanting.wait(LULL) and not self._is_idle():
                self._stopping.wait(self._claim_after - time.monotonic())
        with self._lock:
            unbegun = self._turns.late()
        give_back(unbegun)
        wait(self._working)
        return count

    def _claim(self) -> int:
        with self._lock:
            most, each, fewer = self._turns.bounds()
        began = time.monotonic()
        begin_by = began + spare_seconds()  # the lease begins after this
        jobs = outbox.claim(most, each=each, fewer=fewer)
        with self._lock:
            for job in jobs:
                self._turns.add(job.account_id, job, begin_by=begin_by, in_doubt=job.in_doubt)
        now = time.monotonic()
        self._claim_after = now + max(PACE, now - began)  # half of the time for what takes long
        return len(jobs)

    def _begin(self) -> None:
        """Sets threads to work for as many as may begin."""
        self._working = {future for future in self._working if not future.done()}
        while job := self._next():
            self._working.add(self._pool.submit(self._work, job))

    def _work(self, job: Job | None) -> None:
        """What a thread does: one delivery after another, while there is one whose turn it is."""
        while job is not None:
            self._attend(job)
            with self._lock:
                self._turns.done(job.account_id, in_doubt=job.in_doubt)
                is_low = self._turns.waiting < self.threads / 4
            job = self._next()
            if is_low or job is None:
                self._wanting.set()

    def _next(self) -> Job | None:
        with self._lock:
            late = self._turns.late(time.monotonic())
            job = None if self._stopping.is_set() else self._turns.take()
        give_back(late)
        return job

    def _is_idle(self) -> bool:
        with self._lock:
            return not self._turns.held

    def _attend(self, job: Job) -> None:
        """One delivery on a thread; what goes wrong here is what a lost worker would do."""
        try:
            if self._stopping.is_set():
                outbox.give_back(job)
            else:
                deliver(job)
        except Exception:
            lose(job)


def give_back(jobs: Iterable[Job]) -> None:
    """Undoes claims whose attempt was never begun."""
    for job in jobs:
        try:
            outbox.give_back(job)
        except Exception:  # the caller may hold another one that is to be attempted
            lose(job)


def lose(job: Job) -> None:
    """Leaves it: the lease runs out, and the delivery is due again."""
    log.exception("webhook.lost", delivery=job.delivery_id)
    close_old_connections()


def spare_seconds() -> float:
    """How long a claimed delivery may wait, so that its attempt still ends within the lease."""
    return float(settings.WEBHOOK_LEASE_SECONDS - settings.WEBHOOK_TIMEOUT_SECONDS)


DISPATCHER = Dispatcher(settings.WEBHOOK_THREADS)
