"""Clients that record all their calls and the responses."""

import contextlib
import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import psycopg
import requests

from tests.faults.clients import Machine, Person
from tests.faults.history import FINAL, ON_A_PAGE, Call, Charge, Listing, Outcome, State
from tests.faults.service import Service

PACE = 0.05  # seconds between two calls of a client
RECENT = 12  # requests that answers and cancellations aim at
STATUSES = ("pending", "claimed", *FINAL)
PAGE = 100  # requests in a list
CHARGED = {"create", "cancel", "read", "request in a list", "request in a list by status"}
"""The operations that the quota counts: calls with the key."""
Witnessed = tuple[str, Outcome, State | None]


@dataclass
class Ground:
    """What the clients share. `hurry` is the deadline in seconds that some requests get."""

    service: Service
    callback_url: str
    seed: int
    hurry: float | None
    calls: list[Call] = field(default_factory=list)
    listings: list[Listing] = field(default_factory=list)
    charges: list[Charge] = field(default_factory=list)
    crashes: list[float] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


class Witness:
    """A client by name, on a thread of its own."""

    def __init__(self, ground: Ground, name: str) -> None:
        self.ground = ground
        self.name = name
        self.chance = random.Random(f"{ground.seed} {name}")

    def run(self) -> None:
        while not self.ground.over.wait(PACE):
            self.step()

    def step(self) -> None:
        raise NotImplementedError

    def any_recent(self) -> str | None:
        recent = self.ground.asked[-RECENT:]
        return self.chance.choice(recent) if recent else None

    def any_asked(self) -> str | None:
        """A recent request, or as often any since the beginning."""
        if not self.ground.asked or self.chance.random() < 0.5:
            return self.any_recent()
        return self.chance.choice(self.ground.asked)

    def call(
        self,
        operation: str,
        request_id: str,
        send: Callable[[], requests.Response],
        judge: Callable[[requests.Response], list[Witnessed]],
    ) -> Outcome:
        """Sends, and writes down what came back; without an answer nobody knows."""
        started = time.time()
        witnessed: list[Witnessed] = [(request_id, "unknown", None)]
        is_answered = False
        with contextlib.suppress(requests.RequestException):
            answer = send()
            if answer.status_code < 500:
                is_answered = True
                witnessed = judge(answer)
        ended = time.time()
        if operation in CHARGED:
            self.ground.charges.append(Charge(ended, is_answered))
        for seen_id, outcome, seen in witnessed:
            call = Call(self.name, operation, seen_id, started, ended, outcome, seen)
            self.ground.calls.append(call)
        return witnessed[0][1] if witnessed else "ok"


class Asker(Witness):
    """Creates requests, hurries some, and cancels some."""

    def __init__(self, ground: Ground, name: str) -> None:
        super().__init__(ground, name)
        self.machine: Machine = ground.service.machine()

    def step(self) -> None:
        url = self.ground.callback_url
        self.call("create", "", lambda: self.machine.post_question(callback_url=url), self.created)
        victim = self.any_recent()
        if victim and self.chance.random() < 0.3:
            path = f"/requests/{victim}"
            self.call(
                "cancel",
                victim,
                lambda: self.machine.call("DELETE", path),
                lambda answer: [acknowledged(victim, answer.status_code == 200, "cancelled", None)],
            )

    def created(self, answer: requests.Response) -> list[Witnessed]:
        assert answer.status_code == 201, answer.text
        request_id = answer.json()["data"]["request_id"]
        self.ground.asked.append(request_id)
        if self.ground.hurry and self.chance.random() < 0.3:
            with contextlib.suppress(psycopg.Error):
                self.ground.service.hasten([request_id], self.ground.hurry)
        return [(request_id, "ok", None)]


class Reader(Witness):
    """Reads single requests, pages of lists by status, and pages of the portal: new and old."""

    def __init__(self, ground: Ground, name: str) -> None:
        super().__init__(ground, name)
        self.machine: Machine = ground.service.machine()
        self.person: Person = ground.service.person()

    def step(self) -> None:
        request_id = self.any_asked()
        if request_id is None:
            return
        kind = self.chance.random()
        if kind < 0.5:
            path = f"/requests/{request_id}"
            self.call("read", request_id, lambda: self.machine.call("GET", path), self.read)
        elif kind < 0.6:
            path = f"/requests?limit={PAGE}&offset={self.any_offset()}"
            self.call("request in a list", "", lambda: self.machine.call("GET", path), self.listed)
        elif kind < 0.8:
            self.count(self.chance.choice(STATUSES))
        elif kind < 0.9:
            path = f"/inbox/{request_id}/"
            self.call(
                "page",
                request_id,
                lambda: self.person.get(path),
                lambda answer: self.on_its_page(request_id, answer),
            )
        else:
            self.call("request in the inbox", "", lambda: self.person.get("/inbox/"), self.waiting)

    def any_offset(self) -> int:
        """Of the newest page, or as often of any other."""
        return self.chance.choice((0, self.chance.randrange(max(1, len(self.ground.asked)))))

    def count(self, status: str) -> None:
        """A page of the list of one status."""
        offset, started, pages = self.any_offset(), time.time(), list[dict[str, Any]]()

        def judge(answer: requests.Response) -> list[Witnessed]:
            found = self.listed(answer)
            pages.append(answer.json()["data"])
            return found

        path = f"/requests?limit={PAGE}&offset={offset}&sort=created_at_desc&status={status}"
        send = lambda: self.machine.call("GET", path)  # noqa: E731
        self.call("request in a list by status", "", send, judge)
        for page in pages:
            shown = [(item["id"], item["status"]) for item in page["requests"]]
            listing = Listing(self.name, status, started, time.time(), page["total"], shown, offset)
            self.ground.listings.append(listing)

    def on_its_page(self, request_id: str, answer: requests.Response) -> list[Witnessed]:
        assert answer.status_code == 200, answer.text
        (status,) = re.findall(r'data-status="(\w+)"', answer.text)
        return [(request_id, "ok", (status, ON_A_PAGE))]

    def waiting(self, answer: requests.Response) -> list[Witnessed]:
        """What the inbox shows is open, whoever holds it."""
        assert answer.status_code == 200, answer.text
        ids = set(re.findall(r'href="/inbox/([0-9a-f]{24})/', answer.text))
        return [(each, "ok", ("pending", ON_A_PAGE)) for each in ids]

    def read(self, answer: requests.Response) -> list[Witnessed]:
        assert answer.status_code == 200, answer.text
        return [shown(answer.json()["data"]["request"])]

    def listed(self, answer: requests.Response) -> list[Witnessed]:
        assert answer.status_code == 200, answer.text
        return [shown(item) for item in answer.json()["data"]["requests"]]


def shown(item: dict[str, Any]) -> Witnessed:
    return item["id"], "ok", (item["status"], item["response_data"])


def acknowledged(request_id: str, is_so: bool, status: str, data: object) -> Witnessed:
    return (request_id, "ok", (status, data)) if is_so else (request_id, "failed", None)


class Reviewer(Witness):
    """Claims some requests, answers some, and repeats an answer that nobody acknowledged."""

    def __init__(self, ground: Ground, name: str) -> None:
        super().__init__(ground, name)
        self.person: Person = ground.service.person(name)
        self.answers = 0

    def step(self) -> None:
        request_id = self.any_recent()
        if request_id is None:
            return
        if self.chance.random() < 0.4:
            # the page says afterwards what has become of it: the answer alone proves nothing
            self.call(
                "claim",
                request_id,
                lambda: self.person.claim(request_id),
                lambda answer: [(request_id, "unknown", None)],
            )
        self.answers += 1
        text = f"{self.name} {self.answers}"
        while self.answer(request_id, text) == "unknown" and not self.ground.over.wait(PACE):
            pass

    def answer(self, request_id: str, text: str) -> Outcome:
        def judge(answer: requests.Response) -> list[Witnessed]:
            assert answer.status_code in (303, 409), (answer.status_code, answer.text)
            is_taken = answer.headers.get("Location", "").endswith(f"sent={request_id}")
            assert is_taken or answer.status_code == 409, answer.headers
            return [acknowledged(request_id, is_taken, "completed", text)]

        send = lambda: self.person.answer(request_id, text)  # noqa: E731
        return self.call("answer", request_id, send, judge)
