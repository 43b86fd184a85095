"""A request as a task, for clients that declare the extension."""

from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from reviews.services import claim_request, remove_member
from tests.api import moments
from tests.api.mcp.wire import QUESTION, TASKS, Agent, left
from tests.api.wire import NOWHERE, Api, Ask
from tests.conftest import key_of
from tests.waiting import wait_until
from web.cache import FailOpenRedisCache

pytestmark = pytest.mark.django_db


def ask_for(tasker: Agent, loop: Loop, **changes: Any) -> dict[str, Any]:
    task = tasker.tool("ask_human", loop_id=loop.pk, **{**QUESTION, **changes})
    assert task["resultType"] == "task"
    return task


def get(tasker: Agent, task_id: str) -> dict[str, Any]:
    task = tasker.result("tasks/get", {"taskId": task_id})
    assert task.pop("resultType") == "complete"
    return task


def test_a_question_is_a_task(tasker: Agent, loop: Loop, member: User) -> None:
    """Its id is the request's, which is there before the client has it."""
    task = ask_for(tasker, loop)
    request = Request.objects.get(pk=task["taskId"])
    assert task.pop("resultType") == "task"
    assert task == get(tasker, request.pk)
    assert task.pop("createdAt") == task.pop("lastUpdatedAt")
    assert task == {
        "taskId": request.pk,
        "status": "working",
        "statusMessage": "Waiting for a person to answer.",
        "ttlMs": None,
        "pollIntervalMs": 5000,
    }
    claim_request(request=request, reviewer_id=member.pk)
    assert get(tasker, request.pk)["statusMessage"] == "A person is answering."
    moments.answer(request.pk, member)
    done = get(tasker, request.pk)
    assert done["status"] == "completed"
    result = done["result"]
    assert result["structuredContent"] == tasker.data("get_answer", request_id=request.pk)
    assert result["structuredContent"]["answered_by"] == "human"
    assert result["content"][0]["text"].startswith(f'{{"request_id":"{request.pk}"')


def test_the_deadline_completes_it(tasker: Agent, loop: Loop) -> None:
    task_id = ask_for(tasker, loop)["taskId"]
    moments.let_pass(task_id, hours=2)
    task = get(tasker, task_id)
    assert task["status"] == "completed"
    answer = task["result"]["structuredContent"]
    assert (answer["status"], answer["answered_by"], answer["response_data"]) == (
        "timeout",
        "default",
        "no",
    )


@pytest.mark.parametrize(
    ("given", "leaves", "message"),
    [
        ("", False, "Nobody answered in time. The default response applies."),
        ("n", False, "Too few people answered in time. The default response applies."),
        ("ny", False, "The people who answered did not agree. The default response applies."),
        ("n", True, "Too few people were left to answer. The default response applies."),
        ("v", False, "The answer of one person was a veto, which ended the question."),
        ("nn", False, "A person has answered."),
    ],
)
def test_how_several_people_ended_it(
    tasker: Agent, loop: Loop, owner: User, member: User, given: str, leaves: bool, message: str
) -> None:
    policy = {"rule": "unanimous", "answers": 2, "veto": ["later"]}
    options = {"response_config": {"options": ["yes", "no", "later"]}}
    task_id = ask_for(tasker, loop, policy=policy, **options)["taskId"]
    values = {"n": "no", "y": "yes", "v": "later"}
    for person, each in zip((owner, member), given, strict=False):
        moments.answer(task_id, person, values[each])
    if leaves:
        remove_member(loop_id=loop.pk, account_id=owner.pk, member_id=member.pk)
    moments.let_pass(task_id, hours=2)
    task = get(tasker, task_id)
    assert (task["status"], task["statusMessage"]) == ("completed", message)


def test_cancelling(tasker: Agent, loop: Loop, member: User) -> None:
    """What somebody answers or has answered stays: the client is only told that it was heard."""
    pending, claimed, done = (ask_for(tasker, loop)["taskId"] for _ in range(3))
    moments.claim(claimed, member)
    moments.answer(done, member)
    for task_id in (pending, pending, claimed, done):
        assert tasker.result("tasks/cancel", {"taskId": task_id}) == {"resultType": "complete"}
    statuses = dict(Request.objects.values_list("id", "status"))
    assert (statuses[pending], statuses[claimed], statuses[done]) == (
        "cancelled",
        "claimed",
        "completed",
    )
    assert get(tasker, pending)["status"] == "cancelled"


def test_updating_changes_nothing(tasker: Agent, loop: Loop) -> None:
    task_id = ask_for(tasker, loop)["taskId"]
    params = {"taskId": task_id, "inputResponses": {"unknown": {}}}
    assert tasker.result("tasks/update", params) == {"resultType": "complete"}
    assert get(tasker, task_id)["status"] == "working"


def test_asking_again(tasker: Agent, loop: Loop, member: User) -> None:
    """It is the same task while it is open, and the answer itself afterwards."""
    task = ask_for(tasker, loop, idempotency_key="one")
    assert ask_for(tasker, loop, idempotency_key="one") == task
    moments.answer(task["taskId"], member)
    question = {"loop_id": loop.pk, **QUESTION, "idempotency_key": "one"}
    assert tasker.data("ask_human", **question)["response_data"] == "yes"
    assert Request.objects.count() == 1


def test_every_request_is_a_task(tasker: Agent, ask: Ask) -> None:
    assert get(tasker, ask())["status"] == "working"


def test_clients_that_do_not_declare_it(agent: Agent, ask: Ask) -> None:
    request_id = ask()
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        error = agent.error(method, {"taskId": request_id})
        assert error["code"] == -32021
        assert error["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}
    assert Request.objects.get(pk=request_id).status == "pending"


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_unknown_tasks(api: Api, tasker: Agent, outsider_key: str, ask: Ask, method: str) -> None:
    request_id = ask()
    cases: dict[Any, str] = {NOWHERE: "Request not found", "x": "Invalid request ID format"}
    for task_id, sentence in cases.items():
        error = tasker.error(method, {"taskId": task_id})
        assert error == {"code": -32602, "message": sentence}
    stranger = Agent(api, outsider_key, tasks=True)
    assert stranger.error(method, {"taskId": request_id})["code"] == -32602
    assert Request.objects.get(pk=request_id).status == "pending"
    unnamed: dict[str, Any] = {"Mcp-Name": ""}
    assert tasker.error(method, {}, **unnamed)["code"] == -32020


def test_polls_are_free(
    agent: Agent, tasker: Agent, api: Api, owner: User, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One for each request and interval; whoever is faster pays, and so does one who tries ids."""
    monkeypatch.setattr("accounts.free_polls.AT_LEAST", 600)
    first, second = ask(), ask()
    before = left(agent.send("tools/list"))

    def cost(caller: Agent, method: str, params: dict[str, Any]) -> int:
        nonlocal before
        used, before = before, left(caller.send(method, params))
        return used - before

    def look(request_id: str) -> dict[str, Any]:
        return {"name": "get_answer", "arguments": {"request_id": request_id}}

    assert cost(tasker, "tasks/get", {"taskId": first}) == 0
    assert cost(tasker, "tasks/get", {"taskId": second}) == 0
    assert cost(tasker, "tasks/get", {"taskId": first}) == 1
    assert cost(agent, "tools/call", look(second)) == 1
    assert cost(agent, "tools/call", look(second.upper())) == 1
    assert cost(tasker, "tasks/get", {"taskId": NOWHERE}) == 1
    assert cost(agent, "tools/call", look("x" * 1000)) == 1
    assert cost(tasker, "tasks/cancel", {"taskId": first}) == 0  # its credit is given back

    other = Agent(api, key_of(owner), tasks=True)  # another agent has polls of its own
    before = left(other.send("tools/list"))
    assert cost(other, "tasks/get", {"taskId": first}) == 0
    assert cost(other, "tasks/get", {"taskId": first}) == 1


def test_the_next_interval(
    tasker: Agent, ask: Ask, monkeypatch: pytest.MonkeyPatch, steady_hour: None
) -> None:
    """A second after a poll the next one is free again, where the interval is that short."""
    monkeypatch.setattr("accounts.free_polls.AT_LEAST", 1)
    task = {"taskId": ask()}
    before = left(tasker.send("tasks/get", task))

    def is_free() -> bool:
        nonlocal before
        used, before = before, left(tasker.send("tasks/get", task))
        return used == before

    wait_until(lambda: not is_free())
    wait_until(is_free)


def test_polls_while_redis_is_down(
    tasker: Agent, ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They are free: nobody loses calls because the service cannot count."""
    gone = FailOpenRedisCache(f"unix://{tmp_path}/nobody.sock", {})
    monkeypatch.setattr("accounts.free_polls.cache", gone)
    task = {"taskId": ask()}
    before = left(tasker.send("tasks/get", task))
    assert left(tasker.send("tasks/get", task)) == before
