"""`make run` with its own cast, and access to its processes, rows and clients."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from local.apps import list_apps
from local.environment import fetch_readiness
from tests.faults.clients import Machine, Person
from tests.processes.stack import ROOT, WEB, Stack
from tests.waiting import wait_until

Rows = list[tuple[Any, ...]]
PASSWORD = "correct horse battery"
PEOPLE = ("anna@example.com", "ben@example.com")
PATTERNS = {
    "web": WEB,
    "worker": r"celery .* worker ",
    "beat": r"celery .* beat ",
    "postgres": r"bin/postgres -D",
    "redis": r"(redis|valkey)-server",
}
CAST = f"""
import json
from accounts.services import create_account, create_api_key
from loops.services import create_loop, join_loop
asker = create_account(email="asker@example.com", password={PASSWORD!r}, verified=True)
loop = create_loop(owner_id=asker.pk, name="Faults", icon="star")
people = {{}}
for email in {PEOPLE!r}:
    person = create_account(email=email, password={PASSWORD!r}, verified=True)
    join_loop(user=person, code=loop.invite_code)
    people[email] = person.pk
key = create_api_key(user=asker, name="faults", permissions=["requests:read", "requests:write"])[1]
print(json.dumps({{"key": key, "loop": loop.pk, "people": people}}))
"""


class Service:
    """A running stack, with an asker's key and two reviewers in the asker's loop."""

    def __init__(self, data: Path, **environment: str) -> None:
        limits = {"API_HOURLY_LIMIT": "1000000", "LOG_LEVEL": "WARNING"}
        self.stack = Stack(data, None, "", fresh=False, **{**limits, **environment})
        self.second_folder = data / "second"
        self.lease = float(environment.get("WEBHOOK_LEASE_SECONDS", "60"))
        self.timeout = float(environment.get("WEBHOOK_TIMEOUT_SECONDS", "15"))
        self.scale = float(environment.get("WEBHOOK_SCHEDULE_SCALE", "1"))

    def start(self) -> "Service":
        self.stack.start_until_ready()
        cast = json.loads(self.stack.manage("shell", "-v", "0", "-c", CAST).splitlines()[-1])
        self.key, self.loop_id, self.people = cast["key"], cast["loop"], cast["people"]
        return self

    def await_ready(self) -> None:
        """Waits until it is back: what was killed last may still be starting."""
        wait_until(lambda: fetch_readiness(self.stack.port).startswith("200"), 60)

    def machine(self) -> Machine:
        return Machine(self.stack.site, self.key, self.loop_id)

    def person(self, email: str = PEOPLE[0]) -> Person:
        return Person(self.stack.site, email, PASSWORD)

    @contextmanager
    def database(self) -> Iterator[psycopg.Connection]:
        """A connection of our own; what is left open at the end is rolled back."""
        connection = psycopg.connect(self.stack.database_url())
        try:
            yield connection
        finally:
            connection.close()

    def rows(self, sql: str, **params: object) -> Rows:
        with self.database() as connection:
            cursor = connection.execute(sql, params)
            found = cursor.fetchall() if cursor.description else []
            connection.commit()
        return found

    def hasten(self, request_ids: list[str], seconds: float = 0.0) -> None:
        """Moves deadlines to `seconds` from now: the shortest that callers may ask for is 60."""
        self.rows(
            "UPDATE reviews_request SET timeout_at = statement_timestamp()"
            " + make_interval(secs => %(seconds)s) WHERE id = ANY(%(ids)s)",
            ids=request_ids,
            seconds=float(seconds),
        )

    def events(self, request_ids: list[str]) -> dict[str, Rows]:
        """`(id, state, attempts, body)` of each event, by request."""
        found: dict[str, Rows] = {request_id: [] for request_id in request_ids}
        for request_id, *event in self.rows(
            "SELECT subject_id, id, state, (SELECT count(*) FROM webhooks_attempt a"
            " WHERE a.delivery_id = d.id), body FROM webhooks_delivery d"
            " WHERE subject_id = ANY(%(ids)s) ORDER BY created_at, id",
            ids=request_ids,
        ):
            found[request_id].append(tuple(event))
        return found

    def all_delivered(self, request_ids: list[str]) -> bool:
        """Whether each has events, and every one of them has arrived."""
        events = self.events(request_ids).values()
        return all(each and all(event[1] == "delivered" for event in each) for each in events)

    def pids(self, name: str) -> list[int]:
        """Of the processes of this kind, the oldest first."""
        pattern = PATTERNS[name]
        found = self.stack.processes()
        return sorted(pid for pid, command in found.items() if re.search(pattern, command))

    def kill(self, name: str, number: int = signal.SIGKILL) -> int:
        """Signals the oldest process of this kind, as soon as there is one; returns its pid."""
        signalled: list[int] = []

        def signal_oldest() -> bool:
            for pid in self.pids(name)[:1]:
                with suppress(ProcessLookupError):  # it has ended just now
                    os.kill(pid, number)
                    signalled.append(pid)
            return bool(signalled)

        wait_until(signal_oldest, 60)
        return signalled[0]

    def killed(self, name: str) -> int:
        """The same, once it is gone."""
        pid = self.kill(name)
        wait_until(lambda: pid not in self.stack.processes())
        return pid

    @contextmanager
    def another(self, name: str) -> Iterator[subprocess.Popen[bytes]]:
        """A second worker or beat beside the supervisor's."""
        environment = {**self.stack.environment, "LOG_LEVEL": "WARNING"}
        self.second_folder.mkdir(exist_ok=True)
        (app,) = (each for each in list_apps(0, self.second_folder, {}) if each.name == name)
        called = ("-n", "second@%h") if name == "worker" else ()
        process = subprocess.Popen((*app.command, *called), cwd=ROOT, env=environment)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def discard(self) -> None:
        self.stack.discard()
