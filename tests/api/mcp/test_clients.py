"""The official clients against the real web server, which is killed in between."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

from accounts.models import ApiKey, User
from loops.models import Loop
from reviews.models import Request
from reviews.services import answer_request
from tests.api.mcp.test_tools import NAMES
from tests.api.mcp.wire import LEGACY, QUESTION, TASKS
from tests.api.test_wait import calls_of
from tests.clients import node
from tests.serving import is_read, start
from tests.waiting import stretched, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
HERE = Path(__file__).parent
LATER = 20.0  # seconds to wait for what comes at once on a quiet machine


def ask(
    site: str, key: str, loop: Loop, *, tasks: bool = False, **arguments: Any
) -> requests.Response:
    """ask_human without an SDK: modern with tasks, or as the revision 2025-06-18 does it."""
    given = {"loop_id": loop.pk, **QUESTION, **arguments}
    params: dict[str, Any] = {"name": "ask_human", "arguments": given}
    headers = {"Authorization": f"Bearer {key}", "MCP-Protocol-Version": LEGACY[1]}
    if tasks:
        prefix = "io.modelcontextprotocol/"
        capabilities: dict[str, Any] = {"extensions": {TASKS: {}}}
        params["_meta"] = {
            f"{prefix}protocolVersion": "2026-07-28",
            f"{prefix}clientCapabilities": capabilities,
        }
        headers |= {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call"}
        headers["Mcp-Name"] = "ask_human"
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return requests.post(f"{site}/mcp", json=message, headers=headers, timeout=60)


def answer_once_asked(member: User, waiting: "Future[Any] | subprocess.Popen[str]") -> str:
    """A person answers what is asked; returns the request's id."""

    def ended() -> bool:
        done = waiting.done() if isinstance(waiting, Future) else waiting.poll() is not None
        return bool(done)

    wait_until(lambda: Request.objects.exists() or ended(), LATER)
    request = Request.objects.get()
    answer_request(request=request, reviewer_id=member.pk, answer="yes")
    return str(request.pk)


def content(response: requests.Response) -> dict[str, Any]:
    found: dict[str, Any] = response.json()["result"]["structuredContent"]
    return found


def lines_of(command: list[str], member: User, folder: Path, **environment: str) -> list[Any]:
    """What an agent prints while a person answers it."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        answer_once_asked(member, process)
        printed, complaints = process.communicate(timeout=stretched(60))
    finally:
        process.kill()
    assert process.returncode == 0, complaints
    return [json.loads(line) for line in printed.splitlines()]


def test_who_waits_is_answered(service: str, owner_key: str, loop: Loop, member: User) -> None:
    """The call is made again when there is an answer; the request is created once, and charged."""
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, service, owner_key, loop)
        request_id = answer_once_asked(member, waiting)
        answer = content(waiting.result(LATER))
    assert (answer["request_id"], answer["status"]) == (request_id, "completed")
    assert (answer["response_data"], answer["answered_by"]) == ("yes", "human")
    assert (Request.objects.count(), calls_of(owner_key)) == (1, 1)


def test_nobody_answers(service: str, owner_key: str, loop: Loop) -> None:
    begun = time.monotonic()
    asked = content(ask(service, owner_key, loop, wait=1))
    assert time.monotonic() - begun >= 1
    assert asked["status"] == "pending"
    assert asked["next_step"].startswith("Nobody has answered yet. Call get_answer")
    assert (Request.objects.count(), calls_of(owner_key)) == (1, 1)


def test_a_key_that_is_revoked_meanwhile(
    service: str, owner_key: str, loop: Loop, member: User
) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, service, owner_key, loop)
        wait_until(lambda: Request.objects.exists() and is_read(), LATER)
        ApiKey.objects.update(state=ApiKey.State.DELETED)
        answer_once_asked(member, waiting)
        response = waiting.result(LATER)
    assert (response.status_code, response.json()["error"]["message"]) == (401, "Invalid API key")


def test_a_key_that_may_no_longer_read(
    service: str, owner_key: str, loop: Loop, member: User
) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask, service, owner_key, loop)
        wait_until(lambda: Request.objects.exists() and is_read(), LATER)
        ApiKey.objects.update(permissions=["loops:read"])
        answer_once_asked(member, waiting)
        response = waiting.result(LATER)
    unread = content(response)  # not whether it was answered, nor how
    assert unread["status"] == "pending"
    assert not unread.get("response_data")


@pytest.mark.parametrize(
    ("mode", "tasks", "version"),
    [("auto", True, "2026-07-28"), ("auto", False, "2026-07-28"), ("legacy", False, "2025-11-25")],
)
def test_the_python_client(
    service: str,
    owner: User,
    owner_key: str,
    loop: Loop,
    member: User,
    tmp_path: Path,
    mode: str,
    tasks: bool,
    version: str,
) -> None:
    ApiKey.objects.update(hourly_limit=10_000)  # with tasks it polls faster than it should
    environment = {"SITE": service, "KEY": owner_key, "LOOP": loop.pk, "MODE": mode, "NAME": "one"}
    if tasks:
        environment["TASKS"] = "yes"
    command = [sys.executable, str(HERE / "agent.py")]
    lines = lines_of(command, member, tmp_path, **environment)
    assert lines[0] == {"version": version, "tools": NAMES}
    request = Request.objects.get()
    if tasks:
        assert lines[1] == {"task": request.pk, "interval": 5000}
        assert lines[2] == {"ended": "completed"}
    assert lines[-1]["error"] is False
    assert lines[-1]["answer"]["request_id"] == request.pk
    assert lines[-1]["answer"]["response_data"] == "yes"
    named = "MCP (mcp " if version == "2026-07-28" else "MCP"
    assert request.asked_through.startswith(named)


@pytest.mark.parametrize(
    ("mode", "version"),
    [("sdk", "2025-11-25"), ("legacy", "2025-11-25"), ("auto", "2026-07-28")],
)
def test_the_typescript_client(
    service: str,
    owner_key: str,
    loop: Loop,
    member: User,
    tmp_path: Path,
    mode: str,
    version: str,
) -> None:
    node.program("@modelcontextprotocol/sdk", "dist/esm/client/index.js")
    node.program("@modelcontextprotocol/client", "dist/index.mjs")
    (tmp_path / "agent.mjs").write_bytes((HERE / "agent.mjs").read_bytes())
    (tmp_path / "node_modules").symlink_to(node.MODULES)
    environment = {"SITE": service, "KEY": owner_key, "LOOP": loop.pk, "NAME": "one", "MODE": mode}
    lines = lines_of(["node", "agent.mjs"], member, tmp_path, **environment)
    assert lines[0] == {"version": version, "tools": NAMES}
    assert (lines[1]["answer"]["response_data"], lines[1]["error"]) == ("yes", False)
    assert lines[2] == {"refused": "Invalid loop ID format", "error": True}
    named = "MCP (agent 1)" if version == "2026-07-28" else "MCP"
    assert Request.objects.get().asked_through == named


def test_the_web_server_is_killed(
    service: str, owner_key: str, loop: Loop, member: User, tmp_path: Path
) -> None:
    """What was asked is there afterwards, under the same id, and nothing is asked twice."""
    server, address = start(tmp_path / "first.log")
    try:
        task = ask(address, owner_key, loop, tasks=True, idempotency_key="a").json()["result"]
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(ask, address, owner_key, loop, idempotency_key="b")
            wait_until(lambda: Request.objects.count() == 2, LATER)
            server.kill()
            with pytest.raises(requests.ConnectionError):
                waiting.result(LATER)
    finally:
        server.kill()
        server.wait(20)
    again = ask(service, owner_key, loop, tasks=True, idempotency_key="a").json()["result"]
    found = content(ask(service, owner_key, loop, idempotency_key="b", wait=1))
    assert (again["taskId"], again["status"]) == (task["taskId"], "working")
    ids = set(Request.objects.values_list("id", flat=True))
    assert ids == {task["taskId"], found["request_id"]}
