"""Sends pushes: those of a new request at once, and in the worker whatever is due."""

import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial

from reviews.notifications import outbox
from reviews.notifications.attempt import Verdict, push
from reviews.notifications.message import Message, Target
from reviews.notifications.outbox import PUSH_LEASE, PUSH_SECONDS, Job
from reviews.notifications.pool import Pool
from reviews.notifications.recorder import Recorder
from reviews.notifications.schedule import Meaning

THREADS = 8
ROOM = 96
PER_HOST = 4  # of a host, begun in one claim; a second claim may add as many
AT_ONCE = 1.5  # seconds after the commit
SLOW_FOR = 10.0  # seconds
ENDED = Verdict(Meaning.NEVER, "It is no longer needed.")

Outcome = Verdict | None


class Sender:
    """The pushes of a process: a bounded pool, and a recorder of what became of them."""

    def __init__(self, threads: int = THREADS, room: int = ROOM) -> None:
        self.pool: Pool[Outcome] = Pool(threads, room)
        self.recorder = Recorder()
        self._slow: dict[str, float] = {}  # until when nobody waits for a host
        self._running = threading.Lock()
        self._stopping = threading.Event()

    def stop(self) -> None:
        """What is claimed and not begun is given back."""
        self._stopping.set()

    def send_at_once(self, jobs: Sequence[Job], seconds: float = AT_ONCE) -> int:
        """How many of these pushes are accepted within `seconds`. The others go on behind; what
        finds no room goes to the worker. Nobody waits for a host that was late a moment ago, so
        that a slow push service does not hold the threads of the web server."""
        hosts = {future: host_of(job) for job in jobs if (future := self.submit(job))}
        now = time.monotonic()
        awaited = [each for each, host in hosts.items() if self._slow.get(host, 0.0) <= now]
        if late := wait(awaited, timeout=seconds).not_done:
            still = {host: until for host, until in self._slow.items() if until > now}
            slow = dict.fromkeys((hosts[each] for each in late), time.monotonic() + SLOW_FOR)
            self._slow = {**still, **slow}
        return sum(1 for each in hosts if each.done() and is_accepted(each.result()))

    def submit(self, job: Job) -> Future[Outcome] | None:
        """Has a job attended to; None where there is no room, and then it is given back."""
        begin_by = time.monotonic() + PUSH_LEASE - PUSH_SECONDS
        future = self.pool.offer(partial(self._attend, job, begin_by))
        if future is None:
            self.recorder.put(job, None)
        return future

    def try_now(self, message: Message, target: Target, seconds: float) -> Outcome:
        """Pushes what no row stands for; None where it took too long, or there is no room."""
        future = self.pool.offer(partial(push, message, target))
        if future is None or not wait([future], timeout=seconds).done:
            return None
        return future.result()

    def run(self) -> int:
        """Sends what is due until nothing is, and returns how many pushes it claimed; 0 where
        another run is under way in this process."""
        if not self._running.acquire(blocking=False):
            return 0
        try:
            return self._drain()
        finally:
            self._running.release()

    def _drain(self) -> int:
        under_way: dict[Future[Outcome], str] = {}
        count = 0
        while not self._stopping.is_set():
            begun = Counter(under_way.values())
            free = self.pool.threads - len(under_way)
            busy = [host for host, number in begun.items() if number >= PER_HOST]
            jobs = outbox.claim_pushes(free, per_host=PER_HOST, busy=busy) if free else []
            for job in jobs:
                future = self.submit(job)
                if future is not None:
                    under_way[future] = host_of(job)
            count += len(jobs)
            if not under_way:
                break
            for future in wait(under_way, timeout=1, return_when=FIRST_COMPLETED).done:
                del under_way[future]
        wait(under_way)
        self.recorder.settle()
        return count

    def _attend(self, job: Job, begin_by: float) -> Outcome:
        """One push on a thread of the pool, and its result to the recorder."""
        verdict: Outcome = None
        if job.message is None or job.target is None:
            verdict = ENDED
        elif not self._stopping.is_set() and time.monotonic() <= begin_by:
            verdict = push(job.message, job.target, failed_before=job.failed_attempts)
        self.recorder.put(job, verdict)
        return verdict


def host_of(job: Job) -> str:
    return job.target.host if job.target else ""


def is_accepted(verdict: Outcome) -> bool:
    return verdict is not None and verdict.meaning == Meaning.ACCEPTED


SENDER = Sender()
