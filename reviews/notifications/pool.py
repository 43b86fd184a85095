"""A few threads and a short queue, so that a slow push service holds up nobody else."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class Pool(Generic[T]):
    """At most `threads` things at once and `room` in the queue; what does not fit is refused.

    The threads are daemons: what a process cannot finish has a lease that runs out.
    """

    def __init__(self, threads: int, room: int) -> None:
        self.threads = threads
        self._queue: queue.Queue[tuple[Future[T], Callable[[], T]]] = queue.Queue(room)
        self._starting = threading.Lock()
        self._started = 0

    def offer(self, work: Callable[[], T]) -> Future[T] | None:
        """The future of `work`, or None where the queue is full."""
        self._start()
        future: Future[T] = Future()
        try:
            self._queue.put_nowait((future, work))
        except queue.Full:
            return None
        return future

    def _start(self) -> None:
        """With the first work: a server forks before that, and threads do not outlive a fork."""
        if self._started < self.threads:
            with self._starting:
                while self._started < self.threads:
                    self._started += 1
                    threading.Thread(target=self._serve, name="push", daemon=True).start()

    def _serve(self) -> None:
        while True:
            future, work = self._queue.get()
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
            del future, work
