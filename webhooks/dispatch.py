"""Delivers what is due on threads of its own, so that slow receivers hold up nothing else."""

import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import structlog
from django.conf import settings
from django.db import close_old_connections

from webhooks import outbox
from webhooks.delivery import deliver
from webhooks.outbox import Job

# Claims for each thread: 3 × 15 s of slow receivers fit into a lease of 60 s. What comes to a
# thread too late all the same is given back.
AHEAD = 3
log = structlog.get_logger(__name__)


class Dispatcher:
    """Claims what is due and hands it to its threads, until nothing is due any more.

    One run at a time in a process. `stop` ends it after the attempts that are under way, and
    gives back what was claimed ahead.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="deliver")
        self._running = threading.Lock()
        self._stopping = threading.Event()

    def stop(self) -> None:
        self._stopping.set()

    def run(self) -> int:
        """Delivers, and returns how many claims it made; 0 where another run is under way."""
        if not self._running.acquire(blocking=False):
            return 0
        try:
            return self._drain()
        finally:
            self._running.release()

    def _drain(self) -> int:
        under_way: set[Future[None]] = set()
        count = 0
        while not self._stopping.is_set():
            # claimed a little ahead, so that one claim serves several threads
            if len(under_way) <= self.threads:
                begin_by = time.monotonic() + spare_seconds()  # the lease begins after this
                jobs = outbox.claim(AHEAD * self.threads - len(under_way))
                under_way |= {self._pool.submit(self._attend, job, begin_by) for job in jobs}
                count += len(jobs)
            if not under_way:
                break
            under_way = wait(under_way, timeout=1, return_when=FIRST_COMPLETED).not_done
        wait(under_way)
        return count

    def _attend(self, job: Job, begin_by: float) -> None:
        """One delivery on a thread; what goes wrong here is what a lost worker would do."""
        try:
            if self._stopping.is_set() or time.monotonic() > begin_by:
                outbox.give_back(job)
            else:
                deliver(job)
        except Exception:
            # the lease runs out, and the delivery is due again
            log.exception("webhook.lost", delivery=job.delivery_id)
            close_old_connections()


def spare_seconds() -> float:
    """How long a claimed delivery may wait, so that its attempt still ends within the lease."""
    return float(settings.WEBHOOK_LEASE_SECONDS - settings.WEBHOOK_TIMEOUT_SECONDS)


DISPATCHER = Dispatcher(settings.WEBHOOK_THREADS)
