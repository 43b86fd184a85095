"""The hook in a real Codex: `python -m tests.trials` says how to run these."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from accounts.models import User
from loops.models import Loop
from tests.clients.conftest import answer, asked, let_time_run_out
from tests.clients.gate import Gate
from tests.trials.session import ASK, KEYS, Session, staged, started
from tests.trials.terminal import Terminal, find_client
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

PROMPT = "Would you like to run the following command?"
CONFIG = """\
model = "gpt-5"
model_provider = "stub"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
check_for_update_on_startup = false

[model_providers.stub]
name = "stub"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "STUB_KEY"

[projects."{project}"]
trust_level = "trusted"
"""


@pytest.fixture
def session(gate: Gate, key: str, loop: Loop, tmp_path: Path) -> Iterator[Session]:
    client = find_client("codex")
    with staged("codex", gate, key, tmp_path) as stage:
        config = CONFIG.format(url=stage.model.url, project=stage.project)
        (stage.agent.home / ".codex" / "config.toml").write_text(config)
        with started(stage, f"{client} --no-daemon", STUB_KEY="of-the-stub") as session:
            session.terminal.wait_for("Hooks need review")
            wait_until(lambda: trusts(session.terminal), 30)
            yield session


def trusts(terminal: Terminal) -> bool:
    """Presses the next key of “Trust all”, by what is on the screen."""
    screen = terminal.screen()
    if "Hooks need review" in screen:
        terminal.press("Enter" if "› 2. Trust all" in screen else "Down")
    return "Ask Codex to do anything" in screen


def test_allow(session: Session, member: User) -> None:
    session.terminal.type(ASK)
    request = answer({"action": "approve"}, member)
    assert "ran-first" in session.result()
    assert request.context["folder"] == "shop"


def test_deny_with_words(session: Session, member: User) -> None:
    session.terminal.type(ASK)
    answer({"action": "reject", "message": "Not today.\nSorry, Ä"}, member)
    assert "A person rejected this call: Not today. Sorry, Ä" in session.result()
    assert not (session.project / "first").exists()


def test_edit(session: Session, member: User) -> None:
    session.terminal.type(ASK)
    edited = {"action": "edit", "arguments": {"command": "touch second && echo ran-second"}}
    answer(edited, member)
    told = "A person would run it with this instead: command: touch second && echo ran-second"
    assert told in session.result()
    assert [each.name for each in session.project.iterdir()] == []


def test_nobody_answers(session: Session) -> None:
    session.terminal.type(ASK)
    let_time_run_out(asked())
    session.terminal.wait_for(PROMPT)
    session.terminal.press("Enter")
    assert "ran-first" in session.result()


@KEYS
def test_the_service_is_away(session: Session, key_of_hook: str | None) -> None:
    assert "ran-first" in session.run_without_service(key_of_hook, PROMPT)


@pytest.mark.parametrize("how", ["Escape", "closed"])
def test_it_is_ended_while_it_waits(session: Session, how: str, gate: Gate) -> None:
    session.terminal.type(ASK)
    asked()
    wait_until(lambda: any("?wait=" in call.path for call in gate.calls))
    if how == "closed":
        session.terminal.close()
    else:
        session.terminal.press(how)
    wait_until(lambda: asked().status == "cancelled", 30)
    assert not (session.project / "first").exists()
