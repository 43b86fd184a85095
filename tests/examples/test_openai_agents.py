"""examples/openai_agents_approval.py: webhooks continue runs that no process waits for."""

import contextlib
import socket
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from django.db.models.functions import Now

from accounts import secret_services
from accounts.models import User
from bench.serving import free_port
from loops.models import Loop
from reviews import tasks
from reviews.models import Request
from reviews.services import answer_request, cancel_request
from tests.clients.gate import Gate
from tests.examples.conftest import Start, printed
from tests.reviews.conftest import make_overdue
from tests.waiting import wait_until
from tests.webhooks.conftest import deliver_here
from webhooks.models import Attempt, Delivery

pytestmark = pytest.mark.django_db(transaction=True)
HEADING = "OpenAI Agents SDK"


class Billing:
    """The agent of the sample: it starts and parks, and a server of its own takes webhooks."""

    def __init__(self, start: Start, folder: Path, **variables: str) -> None:
        self.start, self.folder, self.variables = start, folder, variables

    def run(self, word: str, **more: str) -> Any:
        return self.start("openai_agents", HEADING, word, **{**self.variables, **more})

    def serve(self, port: int) -> None:
        """Serves the sample; deliveries would be paused after some to a port without a server."""
        self.start("openai_agents", HEADING, "serve", str(port), **self.variables)
        wait_until(lambda: is_open(port), 30)

    def refunded(self) -> list[str]:
        log = self.folder / "refunded"
        return log.read_text().split() if log.exists() else []

    def output(self) -> str | None:
        """What the run has ended with."""
        with contextlib.closing(sqlite3.connect(self.folder / "runs.sqlite3")) as runs:
            (output,) = runs.execute("SELECT output FROM runs").fetchone()
        return str(output) if output is not None else None


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def billing(start: Start, loop: Loop, owner: User, port: int, tmp_path: Path) -> Billing:
    secret = secret_services.read_secrets(owner.pk).current.text
    url = f"http://127.0.0.1:{port}/hook"
    return Billing(start, tmp_path, LOOP=loop.pk, CALLBACK_URL=url, WEBHOOK_SECRET=secret)


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def deliver() -> None:
    """Delivers what is due; the agent's server takes it."""
    assert deliver_here()
    assert not Delivery.objects.exclude(state="delivered").exists()


@pytest.mark.parametrize(
    ("end", "output", "refunded"),
    [
        ("approve", "refunded 1042", ["1042"]),
        ("reject", "Third refund this year.", []),
        ("timeout", "Not approved.", []),
        ("cancel", "Not approved.", []),
    ],
)
def test_a_run_is_parked_and_goes_on(
    billing: Billing, port: int, member: User, end: str, output: str, refunded: list[str]
) -> None:
    assert printed(billing.run("start")) == ""  # its process has ended
    request = Request.objects.get()
    assert request.context == {"run": "refund-1042", "call": "call_1042"}
    assert request.response_config == {
        "proposal": {"name": "refund", "arguments": {"order": "1042"}}
    }
    assert (billing.output(), billing.refunded()) == (None, [])
    if end == "timeout":
        make_overdue(request)
        assert tasks.settle_overdue() == 1
    elif end == "cancel":
        cancel_request(request_id=request.pk, account_id=request.creator_id)
    else:
        message = {"message": "Third refund this year."} if end == "reject" else {}
        answer_request(request=request, reviewer_id=member.pk, answer={"action": end, **message})
    billing.serve(port)
    deliver()
    wait_until(lambda: billing.output() is not None, 30)
    assert (billing.output(), billing.refunded()) == (output, refunded)


def test_it_goes_on_once_all_tool_calls_are_decided(
    billing: Billing, port: int, member: User
) -> None:
    billing.variables["ORDERS"] = "1042 1043"
    printed(billing.run("start"))
    first, second = Request.objects.order_by("id")
    answer_request(request=first, reviewer_id=member.pk, answer={"action": "approve"})
    billing.serve(port)
    deliver()
    assert (billing.output(), billing.refunded()) == (None, [])
    answer_request(request=second, reviewer_id=member.pk, answer={"action": "reject"})
    deliver()
    wait_until(lambda: billing.output() is not None, 30)
    assert (billing.output(), billing.refunded()) == ("Not approved. | refunded 1042", ["1042"])
    # the same events again
    Delivery.objects.update(state="waiting", delivered_at=None, next_attempt_at=Now())
    deliver()
    assert billing.refunded() == ["1042"]


def test_a_process_that_dies_before_it_has_asked(billing: Billing, gate: Gate) -> None:
    gate.hold = ("POST", "/requests", "after")
    first = billing.run("start")
    assert gate.held.wait(30)
    first.kill()
    first.wait(20)
    gate.release()
    for _ in range(2):
        assert printed(billing.run("ask")) == ""
    assert Request.objects.count() == 1


def test_an_event_that_somebody_else_signed(billing: Billing, port: int, member: User) -> None:
    printed(billing.run("start"))
    answer_request(
        request=Request.objects.get(), reviewer_id=member.pk, answer={"action": "approve"}
    )
    billing.variables["WEBHOOK_SECRET"] = "another one"
    billing.serve(port)

    assert deliver_here()
    assert Attempt.objects.get().status_code == 401
    assert (billing.output(), billing.refunded()) == (None, [])
