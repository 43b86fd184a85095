"""The hook in a real Codex: `python -m tests.trials` says how to run these."""

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

PROMPT = "Would you like to run the following command?"
ASK = f"{RUN}touch first && echo ran-first"
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


class Session:
    """Codex in a terminal, with the hook installed and trusted."""

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
    client = find_client("codex")
    agent = Agent(gate.url, key, tmp_path / "home")
    code, _, complaints = agent.manage("install", "codex")
    assert code == 0, complaints
    project = agent.home / "shop"
    project.mkdir()
    with ExitStack() as stack:
        model = stack.enter_context(model_serving())
        config = CONFIG.format(url=model.url, project=project)
        (agent.home / ".codex" / "config.toml").write_text(config)
        environment = {
            **agent.variables,
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "STUB_KEY": "of-the-stub",
        }
        terminal = stack.enter_context(
            opened(f"{client} --no-daemon", environment, project, tmp_path / "tmux")
        )
        terminal.wait_for("Hooks need review")
        wait_until(lambda: trusts(terminal), 30)
        yield Session(agent, model, terminal, project)


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


@pytest.mark.parametrize("key_of_hook", [None, "rl_live_nonsense"])
def test_the_service_is_away(session: Session, key_of_hook: str | None) -> None:
    url = session.agent.url if key_of_hook else "http://127.0.0.1:9"
    session.agent.store(url, key_of_hook or session.agent.key)
    session.terminal.type(ASK)
    session.terminal.wait_for(PROMPT)
    session.terminal.press("Enter")
    assert "ran-first" in session.result()
    assert not Request.objects.exists()


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
