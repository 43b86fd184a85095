"""Writes what became of pushes, from one thread with one connection to the database."""

import queue
import threading
from collections import defaultdict
from collections.abc import Callable
from functools import partial

import structlog
from django.db import connection

from reviews.notifications import outbox
from reviews.notifications.attempt import Verdict
from reviews.notifications.outbox import Job
from reviews.notifications.schedule import Meaning
from webhooks.delivery import persistently

Result = tuple[Job, Verdict | None]
IDLE = 2.0  # seconds until an idle connection is given back
MAX_BATCH = 200  # results of a batch
log = structlog.get_logger(__name__)


class Recorder:
    """Takes results from any thread. A verdict of None gives a claim back."""

    def __init__(self, idle: float = IDLE) -> None:
        self.idle = idle
        self._queue: queue.Queue[Result] = queue.Queue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def put(self, job: Job, verdict: Verdict | None) -> None:
        with self._lock:
            self._queue.put((job, verdict))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
                self._thread.start()

    def settle(self) -> None:
        """Waits until everything so far is written, or could not be."""
        self._queue.join()

    def close(self, seconds: float = 10.0) -> None:
        """Waits until the connection is given back."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def _run(self) -> None:
        """Until there was nothing to write for a while."""
        try:
            while batch := self._next():
                self._write(batch)
                for _ in batch:
                    self._queue.task_done()
        finally:
            connection.close()

    def _next(self) -> list[Result]:
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

    def _write(self, batch: list[Result]) -> None:
        for write in statements(batch):
            try:
                persistently(write)
            except Exception:
                # the lease runs out, and the push is due again
                log.exception("push.not_recorded")
                connection.close()


def statements(batch: list[Result]) -> list[Callable[[], object]]:
    """One for all pushes of a request that got through, one for all of a claim and an account that
    are given back, and one for each other."""
    sent: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    back: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    found: list[Callable[[], object]] = []
    for job, verdict in batch:
        if verdict is None:
            back[job.account_id, job.claim_id].append(job.notification_id)
        elif verdict.meaning == Meaning.ACCEPTED:
            sent[job.account_id, job.request_id, job.claim_id].append(job.notification_id)
        else:
            found.append(_failure(job, verdict))
    found += [
        partial(
            outbox.record_sent,
            ids,
            account_id=account_id,
            request_id=request_id,
            claim_id=claim_id,
        )
        for (account_id, request_id, claim_id), ids in sent.items()
    ]
    found += [
        partial(outbox.give_back, ids, account_id=account_id, claim_id=claim_id)
        for (account_id, claim_id), ids in back.items()
    ]
    return found


def _failure(job: Job, verdict: Verdict) -> Callable[[], None]:
    def write() -> None:
        log.info(
            "push.failed",
            request=job.request_id,
            device=job.target.device_id if job.target else None,
            meaning=verdict.meaning.value,
            error=verdict.error,
        )
        pk, error = job.notification_id, verdict.error
        claimed = {"account_id": job.account_id, "claim_id": job.claim_id}
        if verdict.meaning == Meaning.LATER and outbox.record_later(
            pk, **claimed, delay=verdict.delay, error=error
        ):
            return
        ended = job.target if verdict.meaning == Meaning.GONE else None
        outbox.record_dropped(
            pk,
            **claimed,
            error=error,
            gone=ended.endpoint if ended else "",
            instead=job.message is not None and verdict.meaning != Meaning.LATER,
        )

    return write
