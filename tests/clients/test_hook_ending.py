"""`reviewloop hook`: whatever ends the hook, its question ends too."""

import json
import os
import pty
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from reviewloop import Client
from reviewloop.hooks import watcher

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from reviews.services import answer_request, claim_request, release_claim
from tests.clients.conftest import answer, asked, finish
from tests.clients.gate import Gate
from tests.clients.hooks import COMMAND, Agent, call, outcome
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def agent(gate: Gate, key: str, tmp_path: Path) -> Agent:
    return Agent(gate.url, key, tmp_path / "home")


QUESTION: dict[str, Any] = {
    "request_text": "May I?",
    "response_type": "approval",
    "response_config": {"proposal": {"name": "Bash"}},
    "default_response": {"action": "reject"},
}


def is_cancelled() -> bool:
    return Request.objects.get().status == "cancelled"


def is_waiting(gate: Gate) -> bool:
    """Whether the hook knows the id of its question."""
    return any("?wait=" in each.path for each in gate.calls)


@pytest.mark.parametrize("host", ["claude", "codex"])
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
def test_the_agent_ends_it(
    agent: Agent, gate: Gate, loop: Loop, host: str, sent: signal.Signals
) -> None:
    """Claude Code sends SIGTERM to the group where the user says No, Codex SIGKILL on Esc."""
    asking = agent.start(host, call(host))
    wait_until(lambda: is_waiting(gate), 30)
    os.killpg(asking.pid, sent)
    assert finish(asking)[1] == ""
    wait_until(is_cancelled, 30)


def find_below(process: int) -> list[int]:
    """The process and all that it started, and these, if their parents live."""
    found = [process]
    for parent in found:
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii")
        found += map(int, children.split())
    return found


def test_the_agent_ends_all_processes_below_it(agent: Agent, gate: Gate, loop: Loop) -> None:
    """Claude Code does on Esc."""
    asking = agent.start("claude", call())
    wait_until(lambda: is_waiting(gate), 30)
    for process in find_below(asking.pid):
        os.kill(process, signal.SIGKILL)
    finish(asking)
    wait_until(is_cancelled, 30)


def test_it_is_killed_before_it_knows_its_question(agent: Agent, gate: Gate, loop: Loop) -> None:
    gate.hold = ("POST", "/requests", "after")
    asking = agent.start("codex", call("codex"))
    assert gate.held.wait(30)
    os.killpg(asking.pid, signal.SIGKILL)
    finish(asking)
    wait_until(is_cancelled, 30)


def test_a_question_that_is_made_after_its_hook_was_killed(
    client: Client, gate: Gate, loop: Loop, pool: ThreadPoolExecutor
) -> None:
    facts = {"loop_id": loop.pk, "metadata": {"hook": "name-1"}}
    ending = pool.submit(watcher.withdraw, client, facts)
    wait_until(lambda: any("metadata" in each.path for each in gate.calls), 30)
    for name in ("name-1", "name-2"):
        client.requests.create(loop.pk, **QUESTION, metadata={"hook": name})
    ending.result(30)
    statuses = Request.objects.order_by("pk").values_list("status", flat=True)
    assert list(statuses) == ["cancelled", "pending"]


def close_terminal(agent: Agent) -> tuple["subprocess.Popen[str]", Callable[[], None]]:
    ours, terminal = pty.openpty()
    agent.stdout = terminal
    asking = agent.start("claude", call())
    os.close(terminal)
    return asking, lambda: os.close(ours)


def close_pipe(agent: Agent) -> tuple["subprocess.Popen[str]", Callable[[], None]]:
    reader, writer = os.pipe()
    agent.stdout = writer
    asking = agent.start("claude", call())
    os.close(writer)
    return asking, lambda: os.close(reader)


@pytest.mark.parametrize("start", [close_terminal, close_pipe])
def test_the_agent_is_gone(
    agent: Agent,
    gate: Gate,
    loop: Loop,
    start: Callable[[Agent], tuple["subprocess.Popen[str]", Callable[[], None]]],
) -> None:
    asking, close = start(agent)
    wait_until(lambda: is_waiting(gate), 30)
    close()
    assert finish(asking)[0] == 0
    wait_until(is_cancelled, 30)


@pytest.mark.parametrize("event", ["PostToolUse", "PostToolUseFailure"])
def test_the_user_of_claude_code_says_yes_first(
    agent: Agent, gate: Gate, loop: Loop, event: str
) -> None:
    asking = agent.start("claude", call())
    wait_until(lambda: is_waiting(gate), 30)
    others: list[dict[str, Any]] = [
        {"session_id": "s-2"},
        {"tool_input": {**COMMAND, "timeout": 1}},
    ]
    for changes in others:
        agent.run("claude", call(event=event, **changes))
    assert asking.poll() is None
    whole = {"originalFile": "x" * 2**20}
    done: dict[str, Any] = {"tool_input": dict(reversed(COMMAND.items())), "tool_response": whole}
    assert agent.run("claude", call(event=event, **done)) == ("", "")
    assert finish(asking)[1] == ""
    wait_until(is_cancelled, 30)


def test_an_equal_call_that_was_approved_ends_nobody_elses_question(
    agent: Agent, gate: Gate, loop: Loop, member: User
) -> None:
    """Claude Code runs some tools side by side."""
    first = agent.start("claude", call())
    request = asked()
    answer_request(request=request, reviewer_id=member.pk, answer={"action": "approve"})
    assert outcome(first)[0]
    second = agent.start("claude", call())
    wait_until(lambda: Request.objects.filter(status="pending").exists(), 30)
    assert agent.run("claude", call(event="PostToolUse")) == ("", "")
    assert list(agent.home.rglob("*.waiting"))
    assert agent.run("claude", call(event="PostToolUse")) == ("", "")
    wait_until(lambda: not Request.objects.filter(status="pending").exists(), 30)
    finish(second)


def test_the_agent_proposes_what_a_person_had_made_of_a_call(
    agent: Agent, loop: Loop, member: User
) -> None:
    """The user was first with a No, so the edited call never ran. Nobody has edited this one."""
    first = agent.start("claude", call())
    edited = {**COMMAND, "command": "ls"}
    sent = {name: value for name, value in edited.items() if name != "description"}
    decision = {"action": "edit", "arguments": sent}
    answer_request(request=asked(), reviewer_id=member.pk, answer=decision)
    assert outcome(first)[0]
    second = agent.start("claude", call(tool_input=edited))
    wait_until(lambda: Request.objects.filter(status="pending").exists(), 30)
    assert agent.run("claude", call(event="PostToolUse", tool_input=edited)) == ("", "")
    wait_until(lambda: not Request.objects.filter(status="pending").exists(), 30)
    finish(second)


def test_a_process_with_the_number_of_a_killed_hook_lives(
    agent: Agent, gate: Gate, loop: Loop
) -> None:
    asking = agent.start("claude", call())
    wait_until(lambda: is_waiting(gate), 30)
    os.killpg(asking.pid, signal.SIGKILL)
    finish(asking)
    wait_until(is_cancelled, 30)
    (file,) = agent.home.rglob("*.waiting")
    file.write_text(str(os.getpid()))
    assert agent.run("claude", call(event="PostToolUse")) == ("", "")
    assert not file.exists()


def test_of_equal_calls_that_wait_one_ends(agent: Agent, gate: Gate, loop: Loop) -> None:
    asking = [agent.start("claude", call()) for _ in range(2)]
    wait_until(lambda: sum("?wait=" in each.path for each in gate.calls) >= 2, 30)
    assert agent.run("claude", call(event="PostToolUse")) == ("", "")
    (file,) = agent.home.rglob("*.waiting")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    wait_until(lambda: Request.objects.filter(status="cancelled").count() == 1, 30)
    assert agent.run("claude", call(event="PostToolUse")) == ("", "")
    for each in asking:
        finish(each)


def test_what_a_killed_hook_leaves_is_removed_after_two_days(
    agent: Agent, gate: Gate, loop: Loop
) -> None:
    killed = agent.start("claude", call())
    wait_until(lambda: is_waiting(gate), 30)
    os.killpg(killed.pid, signal.SIGKILL)
    finish(killed)
    (file,) = agent.home.rglob("*.waiting")
    os.utime(file, (file.stat().st_atime, file.stat().st_mtime - 3 * 86400))
    other = agent.start("claude", call(session_id="s-2"))
    wait_until(lambda: Request.objects.count() == 2, 30)
    assert not file.exists()
    os.killpg(other.pid, signal.SIGKILL)
    finish(other)


def test_somebody_cancels_the_question(
    agent: Agent, gate: Gate, loop: Loop, client: Client
) -> None:
    asking = agent.start("claude", call())
    client.requests.cancel(asked().pk)
    printed, complaints = outcome(asking)
    assert printed == ""
    assert "was cancelled" in complaints
    assert not list(agent.home.rglob("*.waiting"))


def test_a_question_that_somebody_has_open_is_cancelled_afterwards(
    client: Client,
    gate: Gate,
    loop: Loop,
    member: User,
    pool: ThreadPoolExecutor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watcher, "PAUSE", 0.1)
    metadata = {"hook": "name-1"}
    created = client.requests.create(loop.pk, **QUESTION, metadata=metadata)
    request = Request.objects.get(pk=created["request_id"])
    claim_request(request=request, reviewer_id=member.pk)
    facts = {"loop_id": loop.pk, "metadata": metadata}
    ending = pool.submit(watcher.withdraw, client, facts)
    wait_until(lambda: any(each.method == "DELETE" for each in gate.calls), 30)
    assert Request.objects.get().status == "claimed"
    release_claim(request=request, reviewer_id=member.pk)
    ending.result(30)
    assert is_cancelled()


def has_processes(agent: Agent) -> bool:
    """Whether any runs in the agent's environment, such as a watcher."""
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it has ended, or is somebody else's
            if str(agent.home).encode() in environment.read_bytes():
                return True
    return False


def test_an_answered_question_is_left_alone(
    agent: Agent, gate: Gate, loop: Loop, member: User
) -> None:
    asking = agent.start("claude", call())
    answer({"action": "approve"}, member)
    assert outcome(asking)[0]
    wait_until(lambda: not has_processes(agent), 30)
    assert [each for each in gate.calls if each.method == "DELETE"] == []


def watch(agent: Agent, heard: bytes) -> None:
    """What a watcher does that has heard this until its hook ended."""
    program = "import reviewloop.hooks.watcher as w; w.main()"
    command = [sys.executable, "-c", program]
    subprocess.run(command, input=heard, env=agent.variables, check=True)


def test_a_watcher_whose_question_has_ended_makes_no_call(
    agent: Agent, gate: Gate, loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = agent.home / "heard"
    listens = f"import sys; open({str(heard)!r}, 'wb').write(sys.stdin.buffer.read())"
    monkeypatch.setattr(watcher, "PROGRAM", f"import os; os.fork() and os._exit(0); {listens}")
    one = watcher.Watcher()
    one.say(url=agent.url, key=agent.key, loop_id=loop.pk, metadata={"hook": "x"})
    one.dismiss()
    wait_until(lambda: heard.exists() and heard.read_bytes().count(b"\n") == 2, 30)
    watch(agent, heard.read_bytes())
    assert gate.calls == []


def test_a_hook_that_is_killed_while_it_writes(agent: Agent, client: Client, loop: Loop) -> None:
    metadata = {"hook": "x"}
    client.requests.create(loop.pk, **QUESTION, metadata=metadata)
    facts = {"url": agent.url, "key": agent.key, "loop_id": loop.pk, "metadata": metadata}
    watch(agent, json.dumps(facts).encode() + b'\n{"ended": tr')
    assert is_cancelled()
