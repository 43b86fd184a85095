"""What a model reads about a call that it proposed."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from api.mcp.approvals import build_next_step
from loops.models import Loop
from tests.api import moments
from tests.api.mcp.wire import QUESTION, Agent

pytestmark = pytest.mark.django_db
ARGUMENTS = {"order": 4821, "amount": 129.5}
CALL: dict[str, Any] = {
    **QUESTION,
    "response_type": "approval",
    "response_config": {
        "proposal": {"name": "issue_refund", "arguments": ARGUMENTS},
        "actions": ["approve", "edit", "reject", "respond"],
    },
    "default_response": {"action": "reject"},
}


def decide(agent: Agent, loop: Loop, person: User, **decision: Any) -> dict[str, Any]:
    request_id = agent.data("ask_human", loop_id=loop.pk, **CALL)["request_id"]
    moments.answer(request_id, person, decision)
    return agent.data("get_answer", request_id=request_id)


@pytest.mark.parametrize(
    ("decision", "step"),
    [
        (
            {"action": "approve"},
            "A person approved issue_refund. Run it with response_data.arguments, exactly as they "
            "are.",
        ),
        (
            {"action": "edit", "arguments": {**ARGUMENTS, "amount": 99}},
            "A person changed the arguments before approving issue_refund: amount. Run it with "
            "response_data.arguments, exactly as they are. Do not repeat the original call.",
        ),
        (
            {"action": "reject", "message": "No."},
            "A person rejected issue_refund. Do not run it, and do not ask again for the same "
            "call.",
        ),
        (
            {"action": "respond", "message": "Which order?"},
            "A person replied instead of approving issue_refund. Do not run it. Read "
            "response_data.message, and propose another call if one is still needed.",
        ),
    ],
)
def test_what_to_do_now(
    agent: Agent, loop: Loop, member: User, decision: dict[str, Any], step: str
) -> None:
    answer = decide(agent, loop, member, **decision)
    assert answer["next_step"] == step
    assert answer["response_data"]["action"] == decision["action"]
    if decision["action"] == "edit":
        assert answer["response_data"]["arguments"] == {**ARGUMENTS, "amount": 99}


def test_nobody_looked(agent: Agent, loop: Loop) -> None:
    request_id = agent.data("ask_human", loop_id=loop.pk, **CALL)["request_id"]
    moments.let_pass(request_id, days=1)
    answer = agent.data("get_answer", request_id=request_id)
    assert answer["next_step"] == "Nobody decided about issue_refund in time. Do not run it."


@pytest.mark.parametrize("action", ["approve", "edit"])
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"response_at": "2020-01-01T00:00:00Z"}, "the approval has expired. Do not run it."),
        (
            {"response_data": {"action": "approve"}, "texts_removed_at": "2026-01-01T00:00:00Z"},
            "its arguments are no longer stored. Do not run it.",
        ),
        ({"superseded_by": "0" * 24}, "Do not run issue_refund by this one."),
    ],
)
def test_what_was_approved_may_not_run_any_more(
    action: str, changes: dict[str, Any], says: str
) -> None:
    request = {
        "response_type": "approval",
        "response_config": {"proposal": {"name": "issue_refund"}},
        "response_data": {"action": action, "arguments": ARGUMENTS, "edited": ["amount"]},
        "response_at": timezone.now().isoformat(),
        "answered_by": "human",
    }
    assert "Run it with response_data.arguments" in build_next_step(request)
    step = build_next_step({**request, **changes})
    assert says in step
    assert "Run it" not in step


@pytest.mark.parametrize(
    ("outcome", "received", "step"),
    [
        ("no_agreement", 2, "People did not agree about issue_refund. Do not run it."),
        (
            "unreachable",
            1,
            "Too few people were left to decide about issue_refund. Do not run it.",
        ),
        ("default", 1, "Too few people decided about issue_refund in time. Do not run it."),
        ("default", 0, "Nobody decided about issue_refund in time. Do not run it."),
    ],
)
def test_several_people_came_to_nothing(outcome: str, received: int, step: str) -> None:
    request = {
        "response_type": "approval",
        "response_config": {"proposal": {"name": "issue_refund"}},
        "response_data": {"action": "reject"},
        "answered_by": "default",
        "outcome": outcome,
        "answers_received": received,
    }
    assert build_next_step(request) == step


def test_other_answers_have_no_next_step(agent: Agent, loop: Loop, member: User) -> None:
    request_id = agent.data("ask_human", loop_id=loop.pk, **QUESTION)["request_id"]
    moments.answer(request_id, member, "yes")
    assert "next_step" not in agent.data("get_answer", request_id=request_id)


def test_a_default_that_approves(agent: Agent, loop: Loop) -> None:
    fault = agent.fault(
        "ask_human", loop_id=loop.pk, **{**CALL, "default_response": {"action": "approve"}}
    )
    assert fault.startswith("Invalid default response: default_response.action must not be approve")
