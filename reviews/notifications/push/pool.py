"""A pool of threads with a short queue, which refuses work instead of letting it pile up."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class Pool(Generic[T]):
    """Runs up to `threads` pieces of work at once, with up to `room` more in its queue.

    The threads are daemons: an item that the process cannot finish is due again when its lease
    runs out.
    """

    def __init__(self, threads: int, room: int) -> None:
        self.threads = threads
        self._queue: queue.Queue[tuple[Future[T], Callable[[], T]]] = queue.Queue(room)
        self._starting = threading.Lock()
        self._started = 0

    def offer(self, work: Callable[[], T]) -> Future[T] | None:
        """Queues `work` and returns its future, or None where the queue is full."""
        self._start()
        future: Future[T] = Future()
        try:
            self._queue.put_nowait((future, work))
        except queue.Full:
            return None
        return future

    def _start(self) -> None:
        """Starts the threads with the first work: they would not survive the fork of a server."""
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
