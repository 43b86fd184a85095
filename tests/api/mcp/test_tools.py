"""Each tool: what it takes, what it returns, and how it fails."""

import math
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.db.models import F
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from pytest_django import Settings

from accounts.models import User
from api.requests import RequestDetails
from loops.models import Loop
from reviews import retention
from reviews.models import Request
from tests.api import moments
from tests.api.bodies import QUESTION as BODY
from tests.api.bodies import TYPES
from tests.api.mcp.wire import LEGACY, MODERN, QUESTION, Agent, left
from tests.api.test_query_counts import statements
from tests.api.wire import NOWHERE, Api, Ask, json_of
from tests.conftest import key_of

pytestmark = pytest.mark.django_db
NAMES = [
    "ask_human",
    "get_answer",
    "list_loops",
    "get_loop",
    "create_request",
    "list_requests",
    "get_request",
    "cancel_request",
    "add_feedback",
]


def described(agent: Agent) -> dict[str, dict[str, Any]]:
    return {tool["name"]: tool for tool in agent.result("tools/list")["tools"]}


def test_the_list_of_tools(agent: Agent) -> None:
    tools = described(agent)
    assert list(tools) == NAMES
    for tool in tools.values():
        assert tool["title"] == tool["annotations"]["title"]
        assert tool["description"].endswith(".")
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
            assert schema["additionalProperties"] is False
            assert not {"oneOf", "anyOf", "allOf", "$ref"} & schema.keys()
            assert "$ref" not in str(schema)
    required = {name: tool["inputSchema"]["required"] for name, tool in tools.items()}
    assert required["ask_human"] == [
        "loop_id",
        "request_text",
        "response_type",
        "default_response",
    ]
    assert required["list_loops"] == []
    assert required["add_feedback"] == ["request_id", "feedback"]
    arguments = tools["create_request"]["inputSchema"]["properties"]
    assert set(BODY) - {"platform"} < set(arguments)


def test_schemas_hold(agent: Agent, loop: Loop, member: User) -> None:
    """What a tool takes and returns is what its schemas say."""
    tools = described(agent)

    def call(name: str, **arguments: Any) -> dict[str, Any]:
        Draft202012Validator(tools[name]["inputSchema"]).validate(arguments)
        data = agent.data(name, **arguments)
        Draft202012Validator(tools[name]["outputSchema"]).validate(data)
        return data

    assert call("list_loops")["count"] == 1
    assert call("get_loop", loop_id=loop.pk)["loop"]["id"] == loop.pk
    for response_type, shape in TYPES.items():
        given = {**QUESTION, **shape, "response_type": response_type}
        assert call("ask_human", loop_id=loop.pk, **given)["status"] == "pending"
    fields = {name: value for name, value in BODY.items() if name != "platform"}
    created = call("create_request", loop_id=loop.pk, **fields, idempotency_key="one")
    assert created == call("create_request", loop_id=loop.pk, **fields, idempotency_key="one")
    request_id = created["request_id"]
    assert call("get_request", request_id=request_id)["request"]["platform"] == "api"
    assert call("get_answer", request_id=request_id)["status"] == "pending"
    moments.answer(request_id, member)
    assert call("get_answer", request_id=request_id)["response_data"] == "yes"
    assert call("add_feedback", request_id=request_id, feedback={"rating": 5, "my": [1]})
    listed = call("list_requests", loop_id=loop.pk, limit=2, sort="created_at_asc")
    assert (listed["count"], listed["total"], listed["has_more"]) == (2, 8, True)
    other = listed["requests"][0]["id"]
    assert call("cancel_request", request_id=other)["status"] == "cancelled"
    assert call("get_answer", request_id=other)["status"] == "cancelled"


def test_the_text_says_the_same(agent: Agent, loop: Loop) -> None:
    """Clients before 2025-06-18 read only the text."""
    result = agent.tool("list_loops")
    (content,) = result["content"]
    assert content["type"] == "text"
    assert f'"id":"{loop.pk}"' in content["text"]
    assert result["structuredContent"]["loops"][0]["id"] == loop.pk


def test_ask_human(agent: Agent, loop: Loop, member: User) -> None:
    """The short way: a question, a default, a deadline."""
    asked = agent.data("ask_human", loop_id=loop.pk, **QUESTION, context={"order": 7})
    request = Request.objects.get(pk=asked["request_id"])
    assert asked.pop("next_step").startswith("Nobody has answered yet. Call get_answer")
    assert set(asked) == {"request_id", "status", "timeout_at"}
    assert (request.processing_type, request.type, request.priority, request.platform) == (
        "time-sensitive",
        "markdown",
        "medium",
        "api",
    )
    assert (request.timeout_seconds, request.context) == (3600, {"order": 7})
    assert request.asked_through == "MCP (tester 7)"
    moments.answer(request.pk, member)
    answer = agent.data("get_answer", request_id=request.pk)
    assert answer.pop("response_by_user")["id"] == member.pk
    assert answer.pop("response_at")
    assert answer.pop("timeout_at")
    assert answer == {
        "request_id": request.pk,
        "status": "completed",
        "response_data": "yes",
        "answered_by": "human",
        "response_comment": None,
    }


def test_an_answer_whose_text_was_removed(
    agent: Agent, ask: Ask, member: User, settings: Settings
) -> None:
    """Not the empty text that somebody wrote."""
    request_id = ask(response_type="text", **TYPES["text"])
    moments.answer(request_id, member, "Refund it")
    moments.let_pass(request_id, days=3)
    Request.objects.filter(pk=request_id).update(response_at=F("response_at") - timedelta(days=3))
    settings.KEEP_TEXTS_DAYS = 2
    assert retention.prune(until=math.inf) == 1
    answer = agent.data("get_answer", request_id=request_id)
    assert answer["response_data"] == ""
    assert answer["texts_removed_at"]


def test_a_question_that_somebody_has_claimed(agent: Agent, ask: Ask, member: User) -> None:
    """To an agent it is as pending as before: there is no answer to go on with."""
    request_id = ask()
    moments.claim(request_id, member)
    answer = agent.data("get_answer", request_id=request_id)
    assert answer.pop("next_step").startswith("Nobody has answered yet. Call get_answer")
    assert set(answer) == {"request_id", "status", "timeout_at"}
    assert answer["status"] == "pending"


def test_how_long_it_waits(agent: Agent, loop: Loop, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[int] = []
    monkeypatch.setattr(
        "api.long_polling.take_place", lambda *_, seconds, **__: waits.append(seconds)
    )
    asked = agent.data("ask_human", loop_id=loop.pk, **QUESTION)
    agent.data("ask_human", loop_id=loop.pk, **QUESTION, wait=7)
    agent.data("get_answer", request_id=asked["request_id"], wait=8.0)
    agent.data("get_answer", request_id=asked["request_id"])  # looks, and does not wait
    assert waits == [50, 7, 8]


def test_ask_human_with_little(agent: Agent, loop: Loop) -> None:
    """Without a deadline it waits 30 days; a text needs no configuration."""
    asked = agent.data(
        "ask_human",
        loop_id=loop.pk.upper(),
        request_text="How?",
        response_type="text",
        default_response="I do not know.",
        timeout_seconds=None,
        context=None,
    )
    request = Request.objects.get(pk=asked["request_id"])
    assert (request.processing_type, request.timeout_seconds) == ("deferred", 30 * 86400)


def test_a_question_with_an_image(agent: Agent, loop: Loop) -> None:
    address = "https://example.com/a.png"
    asked = agent.data("ask_human", loop_id=loop.pk, **QUESTION, image_url=address)
    request = Request.objects.get(pk=asked["request_id"])
    assert (request.type, request.image_url) == ("image", address)


def test_several_people_decide(agent: Agent, loop: Loop, owner: User, member: User) -> None:
    policy = {"rule": "majority", "answers": 2}
    asked = agent.data("ask_human", loop_id=loop.pk, **QUESTION, policy=policy)["request_id"]
    for person, value in ((owner, "yes"), (member, "no")):
        moments.answer(asked, person, value)
    answer = agent.data("get_answer", request_id=asked)
    assert (answer["status"], answer["outcome"]) == ("timeout", "no_agreement")
    assert [each["response_data"] for each in answer["answers"]] == ["yes", "no"]
    sentence = "policy.answers is 9, but 2 people may answer"
    fault = agent.fault("ask_human", loop_id=loop.pk, **QUESTION, policy={**policy, "answers": 9})
    assert fault == f"Validation failed: {sentence}"


def test_the_next_version_of_a_question(agent: Agent, loop: Loop) -> None:
    older = agent.data("ask_human", loop_id=loop.pk, **QUESTION)["request_id"]
    newer = agent.data("ask_human", loop_id=loop.pk, **QUESTION, replaces=older)["request_id"]
    replaced = agent.data("get_answer", request_id=older)
    assert (replaced["status"], replaced["superseded_by"]) == ("cancelled", newer)
    assert agent.data("get_request", request_id=newer)["request"]["replaces"] == older
    assert "superseded_by" not in agent.data("get_answer", request_id=newer)
    sentence = f"the request in replaces was already replaced by {newer}"
    for tool in ("ask_human", "create_request"):
        fields = QUESTION if tool == "ask_human" else {**BODY}
        fields = {name: value for name, value in fields.items() if name != "platform"}
        fault = agent.fault(tool, loop_id=loop.pk, **fields, replaces=older)
        assert fault == f"Validation failed: {sentence}"


def test_metadata(agent: Agent, loop: Loop) -> None:
    """Of the agent's own: it finds its requests by it."""
    asked = agent.data("ask_human", loop_id=loop.pk, **QUESTION, metadata={"run": "7"})
    fields = {"processing_type": "deferred", "type": "markdown", "priority": "low"}
    created = agent.data(
        "create_request", loop_id=loop.pk, **{**QUESTION, **fields}, metadata={"run": "8", "a": ""}
    )
    for request, pairs in ((asked, {"run": "7"}), (created, {"run": "8", "a": ""})):
        listed = agent.data("list_requests", metadata=pairs)
        assert [each["id"] for each in listed["requests"]] == [request["request_id"]]
        read = agent.data("get_request", request_id=request["request_id"])
        assert read["request"]["metadata"] == pairs
    assert agent.data("list_requests", metadata={})["total"] == 2
    faults: list[tuple[Any, str]] = [
        ([], "metadata must be an object"),
        ({"run": 7}, "metadata.run must be a string"),
        ({"run": "x" * 501}, "metadata[run] must be at most 500 characters"),
    ]
    for wrong, sentence in faults:
        assert agent.fault("list_requests", metadata=wrong) == f"Validation failed: {sentence}"


def test_the_default_at_the_deadline(agent: Agent, loop: Loop) -> None:
    request_id = agent.data("ask_human", loop_id=loop.pk, **QUESTION)["request_id"]
    moments.let_pass(request_id, hours=2)
    answer = agent.data("get_answer", request_id=request_id, wait=50)
    assert (answer["status"], answer["response_data"], answer["answered_by"]) == (
        "timeout",
        "no",
        "default",
    )


def test_the_same_question_again(agent: Agent, loop: Loop, member: User) -> None:
    """With an idempotency_key it is found, not asked again, and costs nothing."""
    question = {"loop_id": loop.pk, **QUESTION, "idempotency_key": 'deploy "7"'}
    first = agent.send("tools/call", {"name": "ask_human", "arguments": question})
    again = agent.send("tools/call", {"name": "ask_human", "arguments": question})
    assert json_of(first) == json_of(again)
    assert left(first) == left(again)
    moments.answer(json_of(first)["result"]["structuredContent"]["request_id"], member)
    assert agent.data("ask_human", **question)["response_data"] == "yes"
    assert Request.objects.count() == 1
    changed = {**question, "request_text": "Shall we not?"}
    assert agent.fault("ask_human", **changed) == (
        "Idempotency-Key was already used for another call"
    )
    sentence = "Validation failed: idempotency_key must be 1 to 255 printable ASCII characters"
    for key in ("", "é", "x" * 256, "a\nb"):
        assert agent.fault("ask_human", **{**question, "idempotency_key": key}) == sentence


def test_the_header_is_not_the_argument(agent: Agent, loop: Loop) -> None:
    arguments = {"loop_id": loop.pk, **QUESTION}
    for _ in range(2):
        agent.result(
            "tools/call",
            {"name": "ask_human", "arguments": arguments},
            **{"Idempotency-Key": "one"},
        )
    assert Request.objects.count() == 2


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"loop_id": None}, "Validation failed: loop_id is required"),
        ({"loop_id": 5}, "Validation failed: loop_id must be a string"),
        ({"loop_id": "5"}, "Invalid loop ID format"),
        ({"loop_id": "../../requests"}, "Invalid loop ID format"),
        ({"loop_id": NOWHERE}, "Loop not found"),
        ({"request_text": None}, "Request text is required"),
        ({"request_text": 5}, "Validation failed: request_text must be a string"),
        (
            {"timeout_seconds": 5},
            "Validation failed: timeout_seconds must be an integer between 60 and 86400",
        ),
        (
            {"timeout_seconds": "600"},
            "Validation failed: timeout_seconds must be an integer between 60 and 86400",
        ),
        (
            {"response_type": "poll"},
            "Validation failed: response_type must be one of: text, single_select, multi_select, "
            "rating, number, form, approval",
        ),
        (
            {"response_config": {}},
            "Invalid response configuration: options array required for select response type",
        ),
        (
            {
                "response_type": "form",
                "response_config": {
                    "schema": {"type": "object", "properties": {"a": {"type": "text"}}}
                },
                "default_response": {},
            },
            "Invalid response configuration: schema.properties.a.type must be one of: string, "
            "number, integer, boolean, array",
        ),
        (
            {"default_response": "maybe"},
            "Invalid default response: default_response must match one of the configured options",
        ),
        ({"default_response": None}, "Validation failed: default_response is required"),
        (
            {"priority": "urgent"},
            "Validation failed: priority must be one of: low, medium, high, critical",
        ),
        ({"context": []}, "Validation failed: context must be an object"),
        ({"wait": 0}, "Validation failed: wait must be an integer between 1 and 50"),
        ({"wait": 51}, "Validation failed: wait must be an integer between 1 and 50"),
        ({"wait": "5"}, "Validation failed: wait must be an integer"),
        ({"wait": True}, "Validation failed: wait must be an integer"),
        ({"idempotency_key": 5}, "Validation failed: idempotency_key must be a string"),
        (
            {"question": "?"},
            "Validation failed: question is not an argument; there are: loop_id, request_text, "
            "response_type, response_config, default_response, timeout_seconds, priority, "
            "context, image_url, metadata, replaces, policy, idempotency_key, wait",
        ),
    ],
)
def test_faults_name_the_field(
    agent: Agent, loop: Loop, changes: dict[str, Any], sentence: str
) -> None:
    assert agent.fault("ask_human", **{"loop_id": loop.pk, **QUESTION, **changes}) == sentence
    assert not Request.objects.exists()


def test_other_faults(agent: Agent, ask: Ask) -> None:
    request_id = ask()
    cases: dict[str, tuple[dict[str, Any], str]] = {
        "list_loops": ({"limit": 5}, "limit is not an argument; there are: none"),
        "list_requests": ({"limit": 101}, "limit must be between 1 and 100"),
        "get_request": ({"request_id": request_id, "wait": 5}, "wait is not an argument"),
        "add_feedback": ({"request_id": request_id, "feedback": 5}, "completed requests"),
        "create_request": ({"loop_id": NOWHERE, "platform": "n8n"}, "platform is not an argument"),
    }
    for name, (arguments, part) in cases.items():
        assert part in agent.fault(name, **arguments)
    assert "limit must be an integer" in agent.fault("list_requests", limit="20")
    assert agent.fault("get_answer", request_id="x") == "Invalid request ID format"
    assert agent.fault("get_request", request_id="x/feedback") == "Invalid request ID format"
    error = agent.error("tools/call", {"name": "drop_table", "arguments": {}})
    assert error == {"code": -32602, "message": "Unknown tool: drop_table"}
    assert agent.error("tools/call", {"name": "list_loops", "arguments": []})["code"] == -32602


def test_foreign_ids(api: Api, outsider_key: str, member_key: str, loop: Loop, ask: Ask) -> None:
    """As the API treats them: what another account has stays there."""
    request_id = ask()
    stranger, member = Agent(api, outsider_key), Agent(api, member_key)
    assert stranger.fault("get_loop", loop_id=loop.pk) == "Access denied to this loop"
    question = {"loop_id": loop.pk, **QUESTION}
    only = "Only loop creators can create requests"
    assert stranger.fault("ask_human", **question) == only
    assert member.fault("ask_human", **question) == only
    for name in ("get_request", "get_answer"):
        denied = "Access denied to this request"
        assert stranger.fault(name, request_id=request_id) == denied
        assert stranger.fault(name, request_id=NOWHERE) == "Request not found"
        assert member.data(name, request_id=request_id)
    for agent in (stranger, member):
        assert agent.fault("cancel_request", request_id=request_id) == "Request not found"
    assert stranger.data("list_requests")["total"] == 0


def test_permissions(api: Api, owner: User, loop: Loop, ask: Ask) -> None:
    agent = Agent(api, key_of(owner, permissions=["requests:read"]))
    assert agent.data("get_answer", request_id=ask())["status"] == "pending"
    denied = "Access denied to this resource"
    assert agent.fault("list_loops") == denied
    assert agent.fault("ask_human", loop_id=loop.pk, **QUESTION) == denied


def test_nobody_is_asked_whose_answer_cannot_be_read(api: Api, owner: User, loop: Loop) -> None:
    for version in (MODERN, *LEGACY):
        key = key_of(owner, permissions=["loops:read", "requests:write"])
        fault = Agent(api, key, version=version).fault("ask_human", loop_id=loop.pk, **QUESTION)
        assert fault == "Access denied to this resource: ask_human needs requests:read too"
    assert not Request.objects.exists()


@pytest.mark.parametrize("error", [OperationalError("away"), ValueError("broken")])
@pytest.mark.parametrize("tasks", [True, False])
def test_what_was_asked_is_found_again_whatever_happens(
    api: Api, owner_key: str, loop: Loop, monkeypatch: pytest.MonkeyPatch, error: Exception,
    tasks: bool,
) -> None:  # fmt: skip
    """The question is there, and the database goes away before it is read."""
    agent = Agent(api, owner_key, tasks=tasks)
    with monkeypatch.context() as patch:
        patch.setattr(RequestDetails, "get", Mock(side_effect=error))
        data = agent.data("ask_human", loop_id=loop.pk, **QUESTION)
    request = Request.objects.get()
    assert (data["request_id"], data["status"]) == (request.pk, "pending")
    assert "was asked" in data["next_step"]
    assert agent.data("get_answer", request_id=request.pk)["status"] == "pending"


@pytest.mark.parametrize("version", [MODERN, *LEGACY])
def test_what_was_asked_is_found_again_after_a_wait(
    api: Api, owner_key: str, loop: Loop, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    """The call has waited, and the server calls the application again without a database."""
    agent = Agent(api, owner_key, version=version)
    question = {"loop_id": loop.pk, **QUESTION}
    request_id = agent.data("ask_human", **question)["request_id"]
    monkeypatch.setattr("api.mcp.asking.get_resumed", lambda _: SimpleNamespace(topic=request_id))
    stranger = Agent(api, "rl_" + "0" * 40, version=version)
    asked = stranger.send("tools/call", {"name": "ask_human", "arguments": question})
    assert request_id not in asked.content.decode()
    monkeypatch.setattr("accounts.quota.fetch_row", Mock(side_effect=OperationalError("away")))
    data = agent.data("ask_human", **question)
    assert (data["request_id"], data["status"]) == (request_id, "pending")
    assert "was asked" in data["next_step"]


def test_the_quota(api: Api, owner: User, loop: Loop, ask: Ask) -> None:
    """A used-up key still speaks the protocol, and gets answers that it polls for in time."""
    request_id = ask()
    agent = Agent(api, key_of(owner, hourly_limit=1), tasks=True)
    assert agent.data("list_loops")
    response = agent.send("tools/call", {"name": "list_loops", "arguments": {}})
    assert (response.status_code, left(response)) == (200, 0)
    assert int(response["Retry-After"]) > 0
    text = json_of(response)["result"]["content"][0]["text"]
    assert text.startswith('API rate limit exceeded: {"usage_count": 1, "usage_limit": 1')
    assert agent.data("get_answer", request_id=request_id)
    assert "API rate limit exceeded" in agent.fault("get_answer", request_id=request_id)
    refused = agent.send("tasks/get", {"taskId": request_id})
    assert (refused.status_code, json_of(refused)["error"]["code"]) == (429, 429)
    assert int(refused["Retry-After"]) > 0
    assert agent.result("tools/list")


def test_statements(agent: Agent, tasker: Agent, loop: Loop, ask: Ask) -> None:
    """A poll takes what one of the API takes; asking checks the key before, and reads
    once more what it has created."""

    def call(caller: Agent, name: str, **arguments: Any) -> int:
        params = {"name": name, "arguments": arguments}
        return statements(lambda: caller.send("tools/call", params))

    request_id = ask()
    assert call(agent, "get_answer", request_id=request_id) == 2
    assert call(agent, "get_answer", request_id=request_id) == 2  # charged in the same statement
    other = ask()
    assert statements(lambda: tasker.send("tasks/get", {"taskId": other})) == 2
    assert call(agent, "ask_human", loop_id=loop.pk, **QUESTION) == 5
    assert call(tasker, "ask_human", loop_id=loop.pk, **QUESTION) == 5
    assert statements(lambda: agent.send("tools/list")) == 1
