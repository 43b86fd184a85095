"""`reviewloop hook mcp`: the permission prompt of `claude -p`."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from reviews.services import answer_request
from tests.clients.conftest import asked, finish
from tests.clients.gate import Gate
from tests.clients.hooks import Agent
from tests.processes.stack import ROOT
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

COMMANDS = [{"command": f"echo {number}", "description": "x"} for number in range(3)]


@pytest.fixture
def agent(gate: Gate, key: str, tmp_path: Path) -> Agent:
    return Agent(gate.url, key, tmp_path / "home")


def start(agent: Agent, *command: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command,
        cwd=agent.home,
        env=agent.variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def test_calls_at_once_with_the_official_client(agent: Agent, loop: Loop, member: User) -> None:
    headless = str(ROOT / "tests" / "clients" / "headless.py")
    client = start(agent, sys.executable, headless, str(agent.program), "hook", "mcp")
    assert client.stdin
    client.stdin.write(json.dumps(COMMANDS))
    client.stdin.close()
    client.stdin = None
    wait_until(lambda: Request.objects.count() == 3, 30)
    answers: dict[str, dict[str, Any]] = {
        "echo 0": {"action": "approve"},
        "echo 1": {"action": "edit", "arguments": {"command": "echo one"}},
        "echo 2": {"action": "reject", "message": "No."},
    }
    for request in Request.objects.all():
        command = request.response_config["proposal"]["arguments"]["command"]
        answer_request(request=request, reviewer_id=member.pk, answer=answers[command])
    code, printed, complaints = finish(client)
    assert code == 0, complaints
    assert json.loads(printed) == [
        {"behavior": "allow", "updatedInput": COMMANDS[0]},
        {"behavior": "allow", "updatedInput": {**COMMANDS[1], "command": "echo one"}},
        {"behavior": "deny", "message": "A person rejected this call: No."},
    ]


class Server:
    """The server, spoken to by hand."""

    def __init__(self, agent: Agent, *command: str) -> None:
        self.process = start(agent, *(command or [str(agent.program)]), "hook", "mcp")

    def send(self, method: str, **more: Any) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, **more}) + "\n")
        self.process.stdin.flush()

    def call(self, tool: str, given: Any) -> None:
        arguments = {"tool_name": tool, "input": given, "tool_use_id": "toolu_1"}
        self.send("tools/call", id=7, params={"name": "approve", "arguments": arguments})

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        message: dict[str, Any] = json.loads(self.process.stdout.readline())
        return message

    def decision(self) -> dict[str, Any]:
        decision: dict[str, Any] = json.loads(self.receive()["result"]["content"][0]["text"])
        return decision


def test_silence_is_a_no(agent: Agent, loop: Loop) -> None:
    agent.store(agent.url, "rl_live_nonsense")
    server = Server(agent)
    server.call("Bash", COMMANDS[0])
    assert server.decision() == {
        "behavior": "deny",
        "message": "Nobody decided about this call. Invalid API key (HTTP 401)",
    }
    for tool, given in (("ExitPlanMode", {}), ("Bash", "rm"), ("", {})):
        server.call(tool, given)
        assert server.decision()["behavior"] == "deny"
    finish(server.process)
    assert not Request.objects.exists()


def test_it_runs_as_a_module(agent: Agent, loop: Loop, member: User) -> None:
    """And not with the modules of the folder in which the agent works."""
    (agent.home / "json.py").write_text("raise SystemExit('not this one')")
    server = Server(agent, sys.executable, "-P", "-m", "reviewloop")
    server.call("Bash", COMMANDS[0])
    answer_request(request=asked(), reviewer_id=member.pk, answer={"action": "approve"})
    assert server.decision() == {"behavior": "allow", "updatedInput": COMMANDS[0]}
    finish(server.process)


@pytest.mark.parametrize(
    ("line", "code"),
    [("nonsense", -32700), ("[" * 200_000, -32700), ("[]", -32600), ('{"params": []}', -32600)],
    ids=["text", "deep", "array", "params"],
)
def test_a_bad_line_ends_nothing(agent: Agent, line: str, code: int) -> None:
    server = Server(agent)
    assert server.process.stdin
    server.process.stdin.write(f"{line}\n")
    server.process.stdin.flush()
    assert server.receive()["error"]["code"] == code
    server.send("ping", id=8)
    assert server.receive() == {"jsonrpc": "2.0", "id": 8, "result": {}}
    finish(server.process)


@pytest.mark.parametrize("how", ["cancelled", "closed", "killed"])
def test_a_call_that_the_client_gives_up(agent: Agent, loop: Loop, gate: Gate, how: str) -> None:
    server = Server(agent)
    server.call("Bash", COMMANDS[0])
    asked()
    wait_until(lambda: any("?wait=" in each.path for each in gate.calls), 30)
    if how == "cancelled":
        server.send("notifications/cancelled", params={"requestId": 7})
        server.send("ping", id=8)
        assert server.receive() == {"jsonrpc": "2.0", "id": 8, "result": {}}
    elif how == "closed":
        finish(server.process)
    else:
        server.process.kill()
        server.process.communicate()
    wait_until(lambda: asked().status == "cancelled", 30)
    if how == "cancelled":
        finish(server.process)


def test_versions_and_unknown_methods(agent: Agent) -> None:
    server = Server(agent)
    for wanted, given in (("2025-03-26", "2025-03-26"), ("2099-01-01", "2025-11-25")):
        server.send("initialize", id=1, params={"protocolVersion": wanted})
        assert server.receive()["result"]["protocolVersion"] == given
    server.send("notifications/initialized")
    server.send("resources/list", id=2)
    assert server.receive()["error"]["code"] == -32601
    assert finish(server.process)[0] == 0
