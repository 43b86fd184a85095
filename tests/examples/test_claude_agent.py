"""examples/claude_agent_approval.py: what people decide is what the SDK tells its program."""

from typing import Any

import pytest

from accounts.models import User
from loops.models import Loop
from reviews.models import Receipt, Request
from tests.clients.conftest import answer, asked, let_time_run_out
from tests.examples.conftest import Start, printed

pytestmark = pytest.mark.django_db(transaction=True)
HEADING = "Claude Agent SDK"


@pytest.mark.parametrize(
    ("decision", "output"),
    [
        ({"action": "approve"}, 'ran {"command": "make deploy"} | '),
        (
            {"action": "edit", "arguments": {"command": "make check"}},
            'ran {"command": "make check"} | A person changed the input of this call to '
            '{"command": "make check"}. Do not repeat yours.',
        ),
        ({"action": "reject", "message": "Not on Friday."}, "denied: Not on Friday."),
        ({"action": "reject"}, "denied: Rejected."),
        ({"action": "respond", "message": "It is deployed."}, "denied: It is deployed."),
    ],
)
def test_a_person_decides(
    start: Start, loop: Loop, member: User, decision: dict[str, Any], output: str
) -> None:
    program = start("claude_agent", HEADING)
    request = asked()
    assert request.response_config["proposal"] == {
        "name": "Bash",
        "arguments": {"command": "make deploy"},
    }
    answer(decision, member)
    assert printed(program) == f"{output}\n"
    assert Receipt.objects.filter(redeemed_at__isnull=False).exists() == ("ran" in output)


def test_nobody_decides(start: Start, loop: Loop) -> None:
    program = start("claude_agent", HEADING)
    let_time_run_out(asked())
    assert printed(program) == "denied: Nobody answered in time.\n"


def test_a_call_without_input(start: Start, loop: Loop, member: User) -> None:
    program = start("claude_agent", HEADING, INPUT="{}")
    answer({"action": "approve"}, member)
    assert printed(program) == "ran {} | \n"


def test_nobody_can_be_asked(start: Start, loop: Loop) -> None:
    program = start("claude_agent", HEADING, REVIEW_LOOP_KEY="rl_live_nonsense")
    assert printed(program) == "denied: Nobody could be asked: Invalid API key (HTTP 401)\n"
    assert not Request.objects.exists()
