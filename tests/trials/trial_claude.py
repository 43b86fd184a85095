"""The hook in a real Claude Code: `python -m tests.trials` says how to run these."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from tests.clients.conftest import answer, asked, gate, key, let_time_run_out
from tests.clients.gate import Gate
from tests.clients.hooks import Agent
from tests.trials.stub_model import RUN, Model, model_serving
from tests.trials.terminal import Terminal, find_client, opened
from tests.waiting import wait_until

__all__ = ["gate", "key"]  # fixtures

pytestmark = pytest.mark.django_db(transaction=True)

KEY = "sk-ant-api03-of-the-stub-0123456789abcdef"
PROMPT = "Do you want to proceed?"
ASK = f"{RUN}touch first && echo ran-first"


class Session:
    """Claude Code in a terminal, with the hook installed."""

    def __init__(self, agent: Agent, model: Model, terminal: Terminal, project: Path) -> None:
        self.agent = agent
        self.model = model
        self.terminal = terminal
        self.project = project

    def result(self, count: int = 1) -> str:
        wait_until(lambda: len(self.model.results) >= count, 30)
        return self.model.results[count - 1]


@pytest.fixture
def session(gate: Gate, key: str, loop: Loop, tmp_path: Path) -> Iterator[Session]:
    client = find_client("claude")
    agent = Agent(gate.url, key, tmp_path / "home")
    code, _, complaints = agent.manage("install", "claude")
    assert code == 0, complaints
    project = agent.home / "shop"
    project.mkdir()
    known = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {str(project): {"hasTrustDialogAccepted": True}},
    }
    (agent.home / ".claude.json").write_text(json.dumps(known))
    with ExitStack() as stack:
        model = stack.enter_context(model_serving())
        environment = {
            **agent.variables,
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        terminal = stack.enter_context(opened(str(client), environment, project, tmp_path / "tmux"))
        terminal.wait_for("? for shortcuts")
        yield Session(agent, model, terminal, project)


def test_allow(session: Session, member: User) -> None:
    session.terminal.type(ASK)
    request = answer({"action": "approve"}, member)
    assert session.result() == "ran-first"
    assert request.context["folder"] == "shop"
    session.terminal.wait_for("Allowed by PermissionRequest hook")


def test_deny_with_words(session: Session, member: User) -> None:
    session.terminal.type(ASK)
    answer({"action": "reject", "message": 'Not "today".\nSorry, Ä'}, member)
    assert session.result() == 'A person rejected this call: Not "today".\nSorry, Ä'
    assert not (session.project / "first").exists()


@pytest.mark.parametrize("end", ["echo ran-second", "false"])
def test_edit(session: Session, member: User, end: str) -> None:
    session.terminal.type(ASK)
    edited = {"action": "edit", "arguments": {"command": f"touch second && {end}"}}
    answer(edited, member)
    assert session.result().startswith("ran-second" if end != "false" else "Exit code 1")
    wait_until(lambda: session.model.heard("A person edited this call before they approved it"))
    assert session.model.heard(f"It ran with command: touch second && {end}")
    assert (session.project / "second").exists()
    assert not (session.project / "first").exists()


def test_nobody_answers(session: Session) -> None:
    session.terminal.type(ASK)
    session.terminal.wait_for(PROMPT)
    let_time_run_out(asked())
    wait_until(lambda: not list(session.agent.home.rglob("*.waiting")), 30)
    session.terminal.press("Enter")
    assert session.result() == "ran-first"


@pytest.mark.parametrize("key_of_hook", [None, "rl_live_nonsense"])
def test_the_service_is_away(session: Session, key_of_hook: str | None) -> None:
    url = session.agent.url if key_of_hook else "http://127.0.0.1:9"
    session.agent.store(url, key_of_hook or session.agent.key)
    session.terminal.type(ASK)
    session.terminal.wait_for(PROMPT)
    session.terminal.press("Enter")
    assert session.result() == "ran-first"
    assert not Request.objects.exists()


def is_cancelled() -> bool:
    return asked().status == "cancelled"


@pytest.mark.parametrize("how", ["Escape", "Enter", "fails", "closed", "killed"])
def test_the_terminal_is_first(session: Session, how: str, gate: Gate) -> None:
    session.terminal.type(f"{RUN}touch first && false" if how == "fails" else ASK)
    session.terminal.wait_for(PROMPT)
    asked()
    wait_until(lambda: any("?wait=" in call.path for call in gate.calls))
    if how == "closed":
        session.terminal.close()
    elif how == "killed":
        pid = session.terminal.tmux("display", "-p", "#{pane_pid}").strip()
        session.terminal.tmux("run-shell", f"kill -9 {pid}")
    else:
        session.terminal.press("Enter" if how == "fails" else how)
    if how in ("closed", "killed"):
        wait_until(is_cancelled, 30)
    else:
        session.terminal.wait_until(is_cancelled, "the question is cancelled")
    assert (session.project / "first").exists() == (how in ("Enter", "fails"))
