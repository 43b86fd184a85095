"""Threads that begin with the first work and end when there was none for a while."""

import queue
import threading
from collections.abc import Callable
from contextlib import suppress

import structlog
from django.db import connections

Work = Callable[[], None]
log = structlog.get_logger(__name__)


class Threads:
    """Runs work on up to `count` threads. They close their connections to the database in the end.

    They are daemons. They start with the first work, because threads do not survive a fork.
    """

    def __init__(self, count: int, *, name: str, idle: float) -> None:
        self.count, self.name = count, name
        self.idle = idle  # seconds after which a thread ends
        self._work: queue.Queue[Work | None] = queue.Queue()
        self._lock = threading.Lock()
        self._alive: set[threading.Thread] = set()
        self.pending = 0  # work that no thread has begun; the queue loses it a moment earlier
        self._free = 0

    def submit(self, work: Work) -> None:
        with self._lock:
            self._work.put(work)
            self.pending += 1
            if self.pending > self._free and len(self._alive) < self.count:
                thread = threading.Thread(target=self._serve, name=self.name, daemon=True)
                self._alive.add(thread)
                thread.start()

    def settle(self) -> None:
        """Waits until everything so far is done."""
        self._work.join()

    def close(self) -> None:
        """Has the threads end once everything is done, and waits for them."""
        with self._lock:
            threads = list(self._alive)
        for _ in threads:
            self._work.put(None)
        for thread in threads:
            thread.join(20)

    def _serve(self) -> None:
        try:
            while work := self._next():
                try:
                    work()
                except Exception:
                    log.exception("outbox.failed")
                finally:
                    self._work.task_done()
        finally:
            connections.close_all()

    def _next(self) -> Work | None:
        """Returns the next work. None ends this thread, which is then no longer in `_alive`."""
        while True:
            with self._lock:
                self._free += 1
            work, is_told = None, False
            with suppress(queue.Empty):
                work = self._work.get(timeout=self.idle)
                is_told = work is None
            with self._lock:
                self._free -= 1
                self.pending -= work is not None
                if is_told:
                    self._work.task_done()
                if is_told or (work is None and not self.pending):
                    self._alive.discard(threading.current_thread())
                    return None
            if work is not None:
                return work
