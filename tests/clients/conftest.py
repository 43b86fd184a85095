"""The service, a door before it, and the client as a program or a command."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from reviewloop import Client

from accounts.models import User
from reviews.lifecycle.transitions import CHANGED_CHANNEL
from reviews.models import Request
from reviews.services import answer_request
from tests.clients.gate import Gate, gate_before
from tests.conftest import key_of
from tests.processes.stack import ROOT
from tests.reviews.conftest import make_overdue
from tests.waiting import stretched, wait_until

SOURCE = ROOT / "clients" / "python" / "src"


@pytest.fixture
def gate(service: str) -> Iterator[Gate]:
    with gate_before(service) as one:
        yield one


@pytest.fixture
def key(owner: User) -> str:
    return key_of(owner, hourly_limit=1000)


@pytest.fixture
def client(
    gate: Gate, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Client]:
    monkeypatch.setenv("REVIEW_LOOP_STATE", str(tmp_path / "state"))
    with Client(gate.url, key, patience=30) as one:
        yield one


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """For calls that wait until the test has answered. Those of a test that failed end with the
    service, by which the patience of their client ends."""
    threads = ThreadPoolExecutor(4)
    yield threads
    threads.shutdown(wait=False)


@dataclass
class Shell:
    """Runs the command `reviewloop`."""

    url: str
    key: str
    folder: Path
    stdout: int = subprocess.PIPE
    stdin: int | None = None
    variables: Mapping[str, str] = field(default_factory=dict)

    def start(self, *words: str, **environment: str) -> "subprocess.Popen[str]":
        variables = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SOURCE),
            "REVIEW_LOOP_URL": self.url,
            "REVIEW_LOOP_KEY": self.key,
            "REVIEW_LOOP_STATE": str(self.folder / "state"),
            **self.variables,
            **environment,
        }
        return subprocess.Popen(
            [sys.executable, "-m", "reviewloop", *words],
            cwd=self.folder,
            env=variables,
            stdin=self.stdin,
            stdout=self.stdout,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            # A run in the background ignores Ctrl-C, and so would what it starts.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )


def finish(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    """The exit code and what was printed."""
    try:
        printed, complaints = process.communicate(timeout=stretched(30))
    finally:
        process.kill()
    return process.returncode, printed, complaints


@pytest.fixture
def shell(gate: Gate, key: str, tmp_path: Path) -> Shell:
    return Shell(gate.url, key, tmp_path)


def asked() -> Request:
    """The only request there is, once it is there."""
    wait_until(Request.objects.exists, 30)
    request: Request = Request.objects.get()
    return request


def answer(value: Any, by: User, **more: Any) -> Request:
    """A person answers the only request."""
    request = asked()
    answer_request(request=request, reviewer_id=by.pk, answer=value, **more)
    return request


def let_time_run_out(request: Request) -> None:
    """Ends the request by its deadline, and wakes those who wait for it."""
    make_overdue(request)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANGED_CHANNEL, request.pk])
