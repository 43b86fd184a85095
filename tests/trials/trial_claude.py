"""The hook in a real Claude Code: `python -m tests.trials` says how to run these."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from accounts.models import User
from loops.models import Loop
from tests.clients.conftest import answer, asked, let_time_run_out
from tests.clients.gate import Gate
from tests.trials.session import ASK, KEYS, Session, staged, started
from tests.trials.stub_model import RUN
from tests.trials.terminal import find_client
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

KEY = "sk-ant-api03-of-the-stub-0123456789abcdef"
PROMPT = "Do you want to proceed?"


@pytest.fixture
def session(gate: Gate, key: str, loop: Loop, tmp_path: Path) -> Iterator[Session]:
    client = find_client("claude")
    with staged("claude", gate, key, tmp_path) as stage:
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "projects": {str(stage.project): {"hasTrustDialogAccepted": True}},
        }
        (stage.agent.home / ".claude.json").write_text(json.dumps(known))
        environment = {
            "ANTHROPIC_BASE_URL": stage.model.url,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        with started(stage, str(client), **environment) as session:
            session.terminal.wait_for("? for shortcuts")
            yield session


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


@KEYS
def test_the_service_is_away(session: Session, key_of_hook: str | None) -> None:
    assert session.run_without_service(key_of_hook, PROMPT) == "ran-first"


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
