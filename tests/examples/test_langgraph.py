"""examples/langgraph_interrupt.py and examples/langchain_review.py."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from reviews.services import answer_request
from tests.clients.conftest import answer, asked, finish, let_time_run_out
from tests.clients.gate import Gate
from tests.examples.conftest import Start, printed
from tests.waiting import stretched, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
EMAIL = {"to": "ada", "text": "It ships tomorrow."}


@pytest.mark.parametrize(("choice", "output"), [("send", "sent\n"), ("drop", "dropped\n")])
def test_a_person_answers_a_node(
    start: Start, loop: Loop, member: User, choice: str, output: str
) -> None:
    program = start("lang_graph", "LangGraph")
    assert asked().request_text == "**Send this reply?**\n\n> It ships today."
    answer(choice, member)
    assert printed(program) == output


def test_nobody_answers_a_node(start: Start, loop: Loop) -> None:
    program = start("lang_graph", "LangGraph")
    let_time_run_out(asked())
    assert printed(program) == "dropped\n"


@pytest.mark.parametrize("is_answered", [False, True])
def test_it_is_killed_while_it_waits(
    start: Start, gate: Gate, loop: Loop, member: User, is_answered: bool
) -> None:
    gate.hold = ("GET", "?wait=", "before")
    first = start("lang_graph", "LangGraph")
    assert gate.held.wait(stretched(30))
    os.kill(first.pid, signal.SIGKILL)
    assert finish(first)[0] == -signal.SIGKILL
    gate.release()
    if is_answered:
        answer("send", member)

    second = start("lang_graph", "LangGraph")
    if not is_answered:
        answer("send", member)
    assert printed(second) == "sent\n"
    assert Request.objects.count() == 1


def test_nodes_that_ask_at_the_same_time(start: Start, loop: Loop, member: User) -> None:
    program = start("lang_graph_parallel", "LangGraph")
    wait_until(lambda: Request.objects.count() == 2, 30)
    by_text = {each.request_text: each for each in Request.objects.all()}
    colour, size = by_text["Which colour?"], by_text["Which size?"]
    answer_request(request=size, reviewer_id=member.pk, answer=4)
    answer_request(request=colour, reviewer_id=member.pk, answer="blue", comment="Like the sea.")
    wait_until(lambda: Request.objects.count() == 3, 30)
    let_time_run_out(Request.objects.get(request_text="Which other?"))
    assert json.loads(printed(program)) == {
        "colours": [
            {"value": "blue", "by_human": True, "comment": "Like the sea."},
            {"value": "red", "by_human": False, "comment": None},
        ],
        "size": {"value": 4, "by_human": True, "comment": None},
    }


@pytest.mark.parametrize(
    ("decision", "said", "sent"),
    [
        ({"action": "approve"}, "success: sent to grace", "grace: It ships today.\n"),
        (
            {"action": "edit", "arguments": EMAIL},
            "Executed instead: send_email with arguments",
            "ada: It ships tomorrow.\n",
        ),
        ({"action": "reject", "message": "She knows."}, "She knows.", ""),
        ({"action": "reject"}, "error: User rejected", ""),
        (
            {"action": "respond", "message": "I have called her."},
            "success: I have called her.",
            "",
        ),
    ],
)
def test_a_person_decides_about_a_tool_call(
    start: Start, loop: Loop, member: User, tmp_path: Path,
    decision: dict[str, Any], said: str, sent: str,
) -> None:  # fmt: skip
    program = start("lang_chain", "LangChain")
    request = asked()
    assert request.response_config == {
        "proposal": {
            "name": "send_email",
            "arguments": {"to": "grace", "text": "It ships today."},
        },
        "actions": ["approve", "edit", "reject", "respond"],
    }
    assert request.timeout_seconds == 900
    answer(decision, member)
    assert said in printed(program)
    assert emails(tmp_path) == sent


def emails(folder: Path) -> str:
    log = folder / "sent"
    return log.read_text() if log.exists() else ""


def test_nobody_decides_about_a_tool_call(start: Start, loop: Loop, tmp_path: Path) -> None:
    program = start("lang_chain", "LangChain")
    let_time_run_out(asked())
    assert "Nobody answered in time." in printed(program)
    assert emails(tmp_path) == ""


def test_two_tool_calls_at_once(start: Start, loop: Loop, member: User, tmp_path: Path) -> None:
    program = start("lang_chain", "LangChain", RECEIVERS="grace ada")
    for count, choice in enumerate(("reject", "approve"), 1):
        wait_until(lambda count=count: Request.objects.count() == count, 30)  # type: ignore[misc]
        request = Request.objects.get(status="pending")
        answer_request(request=request, reviewer_id=member.pk, answer={"action": choice})
    printed(program)
    assert emails(tmp_path) == "ada: It ships today.\n"


def test_it_is_killed_while_a_person_decides(
    start: Start, gate: Gate, loop: Loop, member: User, tmp_path: Path
) -> None:
    gate.hold = ("GET", "?wait=", "before")
    first = start("lang_chain", "LangChain")
    assert gate.held.wait(stretched(30))
    os.kill(first.pid, signal.SIGKILL)
    assert finish(first)[0] == -signal.SIGKILL
    gate.release()
    answer({"action": "approve"}, member)
    assert printed(start("lang_chain", "LangChain")) == "success: sent to grace\n"
    assert Request.objects.count() == 1
    assert emails(tmp_path) == "grace: It ships today.\n"


def test_rejecting_has_to_be_allowed(start: Start, loop: Loop) -> None:
    code, _, complaints = finish(start("lang_chain", "LangChain", REJECT=""))
    assert code == 1
    assert complaints.endswith('allow "reject" for send_email: it is the default\n')
    assert not Request.objects.exists()
