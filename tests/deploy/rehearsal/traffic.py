"""Programs that ask and people who answer, all the time, and a check that nothing was lost."""

import json
import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

import psycopg

from tests.deploy.rehearsal.clock import Tries
from tests.deploy.rehearsal.people import Browser, Program
from tests.faults.receiver import Receiver
from tests.waiting import wait_until

Who = TypeVar("Who", Program, Browser)


@dataclass
class Traffic:
    """Two programs ask and read, and each person answers; `asked` is what was acknowledged."""

    programs: list[Program]
    people: list[Browser]
    receiver: Receiver
    begun: datetime = field(default_factory=lambda: datetime.now(UTC))
    asked: list[str] = field(default_factory=list)
    answered: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    _open: "queue.Queue[str]" = field(default_factory=queue.Queue)
    _over: threading.Event = field(default_factory=threading.Event)  # nobody asks any more
    _done: threading.Event = field(default_factory=threading.Event)  # nor answers

    @contextmanager
    def flowing(self) -> Iterator[None]:
        """For the length of the block; at its end every question has been answered."""
        asking = [self._start(self._ask, program, self._over) for program in self.programs]
        answering = [self._start(self._answer, person, self._done) for person in self.people]
        try:
            self.wait_for_more(3)
            yield
        finally:
            for over, threads in ((self._over, asking), (self._done, answering)):
                over.set()
                for thread in threads:
                    thread.join(120)
        assert not self.failures, self.failures

    def wait_for_more(self, count: int = 10) -> None:
        """Waits until so many more questions have been answered."""
        before = len(self.answered)
        wait_until(lambda: self.failures or len(self.answered) >= before + count, 60)

    def _start(
        self, work: Callable[[Who], None], who: Who, over: threading.Event
    ) -> threading.Thread:
        def run() -> None:
            try:
                while not over.is_set() and not self.failures:
                    work(who)
            except Exception as error:
                self.failures.append(f"{type(error).__name__}: {error}")

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def _ask(self, program: Program) -> None:
        """Asks, and waits until somebody has answered."""
        request_id = program.ask()
        self.asked.append(request_id)
        self._open.put(request_id)
        ended = program.wait_for(request_id, lambda: bool(self.failures))
        # The answer is stored before its page has come.
        wait_until(lambda: self.failures or request_id in self.answered, 60)
        expected = ("completed", self.answered.get(request_id))
        assert (ended["status"], ended["response_data"]) == expected, (ended, expected)

    def _answer(self, person: Browser) -> None:
        try:
            request_id = self._open.get(timeout=0.1)
        except queue.Empty:
            return
        answer = "yes" if len(self.answered) % 2 else "no"
        person.answer(request_id, answer)
        self.answered[request_id] = answer

    @property
    def tries(self) -> Tries:
        return sum((who.tries for who in (*self.programs, *self.people)), Tries())

    def check(self, database: str) -> str:
        """Nothing is lost and nothing doubled: neither requests, nor answers, nor webhooks."""
        wait_until(lambda: {*self.asked} <= self.told().keys(), 60)
        with psycopg.connect(database) as connection:
            rows = connection.execute(
                "SELECT id, status, response_data FROM reviews_request WHERE created_at >= %s",
                [self.begun],
            ).fetchall()
        assert {row[0] for row in rows} == {*self.asked}, "a create was lost or doubled"
        assert {row[0]: row[2] for row in rows} == self.answered, "an answer was lost"
        assert {row[1] for row in rows} == {"completed"}
        told = self.told()
        assert all(len(told[request_id]) == 1 for request_id in self.asked), "two ids of one event"
        repeated = sum(sum(each.values()) - 1 for each in told.values())
        return f"{len(self.asked)} requests, each answered once; {repeated} webhooks came twice"

    def told(self) -> dict[str, Counter[str]]:
        """How often each id of `request.completed` came, by request."""
        found: dict[str, Counter[str]] = {}
        for post in list(self.receiver.posts):
            event = json.loads(post.body)
            if event["event"] == "request.completed":
                found.setdefault(event["request_id"], Counter())[post.webhook_id] += 1
        return found
