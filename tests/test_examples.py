"""The example, run as a stranger would run it, while a member answers."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests
from pytest_django.live_server_helper import LiveServer

from accounts.models import User
from loops.models import Loop
from loops.services import join_loop
from reviews.models import Request
from reviews.services import answer_request
from tests.conftest import key_of
from tests.waiting import wait_until

ASK = Path(__file__).resolve().parent.parent / "examples" / "ask.py"


def start(site: str, key: str, *words: str) -> subprocess.Popen[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "REVIEW_LOOP_URL": f"{site}/v1",
        "REVIEW_LOOP_KEY": key,
    }
    return subprocess.Popen(
        [sys.executable, ASK, *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def finish(example: subprocess.Popen[str]) -> tuple[str, str]:
    """What it printed, once it has ended."""
    try:
        return example.communicate(timeout=30)
    finally:
        example.kill()


def test_ask_prints_the_answer(live_server: LiveServer, owner: User, member: User) -> None:
    example = start(live_server.url, key_of(owner), "Refund", "80 €?")
    wait_until(Request.objects.exists)
    request = Request.objects.get()
    loop = Loop.objects.get()
    join_loop(user=member, code=loop.invite_code)
    answer_request(request=request, reviewer_id=member.pk, answer="yes")

    printed, complaints = finish(example)
    assert complaints == ""
    assert printed.splitlines() == [
        f"Who should answer joins at {loop.join_url}",
        "Asked: Refund 80 €?",
        "completed: yes",
    ]


def test_ask_asks_the_loop_that_it_made(live_server: LiveServer, owner: User) -> None:
    key = key_of(owner)
    for count in (1, 2):
        example = start(live_server.url, key)
        wait_until(lambda count=count: Request.objects.count() == count)  # type: ignore[misc]
        request = Request.objects.latest("created_at")
        answer_request(request=request, reviewer_id=owner.pk, answer="no")
        printed, _ = finish(example)
        assert printed.splitlines()[-2:] == ["Asked: Shall we ship it today?", "completed: no"]
    assert Loop.objects.count() == 1


def test_ask_waits_where_the_quota_is_used_up(live_server: LiveServer, owner: User) -> None:
    example = start(live_server.url, key_of(owner, hourly_limit=1))
    with pytest.raises(subprocess.TimeoutExpired):
        example.communicate(timeout=2)
    example.kill()
    complaints = example.communicate()[1]
    assert re.fullmatch(r"Too Many Requests: trying again in \d+ s\n", complaints)


def test_ask_says_what_is_wrong(live_server: LiveServer) -> None:
    example = start(live_server.url, "rl_live_nonsense")
    printed, complaints = finish(example)
    assert (printed, complaints, example.returncode) == ("", "Invalid API key {}\n", 1)


@contextmanager
def stumbling(site: str, failures: list[str]) -> Iterator[str]:
    """An address in front of the service: the next calls fail in these ways, and then none does."""

    class Handler(BaseHTTPRequestHandler):
        def forward(self) -> None:
            if failures:
                if failures.pop(0) == "503":
                    self.send_error(503)
                return  # else the connection is closed without an answer
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: self.headers[name] for name in ("Authorization", "Content-Type")}
            answer = requests.request(
                self.command, site + self.path, data=sent, headers=headers, timeout=10
            )
            self.send_response(answer.status_code)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_GET = do_POST = forward  # noqa: N815 (names of the base class)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_ask_goes_on_after_an_outage(live_server: LiveServer, owner: User) -> None:
    failures = ["503", "closed"]
    with stumbling(live_server.url, failures) as site:
        example = start(site, key_of(owner), "Ship", "it?")
        wait_until(Request.objects.exists, 20)
        failures += ["closed", "503"]
        wait_until(lambda: not failures, 20)
        answer_request(request=Request.objects.get(), reviewer_id=owner.pk, answer="yes")
        printed, complaints = finish(example)
    assert printed.splitlines()[-2:] == ["Asked: Ship it?", "completed: yes"]
    assert complaints.splitlines() == [
        "Service Unavailable: trying again in 1 s",
        "ConnectionError: trying again in 2 s",
        "ConnectionError: trying again in 1 s",
        "Service Unavailable: trying again in 2 s",
    ]
