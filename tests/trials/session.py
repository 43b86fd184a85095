"""A client in a terminal, with the hook installed and a stub of its model."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from reviews.models import Request
from tests.clients.gate import Gate
from tests.clients.hooks import Agent
from tests.trials.stub_model import RUN, Model, model_serving
from tests.trials.terminal import Terminal, opened
from tests.waiting import wait_until

ASK = f"{RUN}touch first && echo ran-first"
KEYS = pytest.mark.parametrize("key_of_hook", [None, "rl_live_nonsense"])


@dataclass(frozen=True, slots=True)
class Stage:
    """What a client needs before it starts."""

    agent: Agent
    model: Model
    project: Path


@dataclass(frozen=True, slots=True)
class Session(Stage):
    """A client that has started."""

    terminal: Terminal

    def result(self, count: int = 1) -> str:
        """Waits for so many results of tools, and returns the last of these."""
        wait_until(lambda: len(self.model.results) >= count, 30)
        return self.model.results[count - 1]

    def run_without_service(self, key_of_hook: str | None, prompt: str) -> str:
        """Says yes in the terminal where the hook cannot ask; without a key nobody is there."""
        url = self.agent.url if key_of_hook else "http://127.0.0.1:9"
        self.agent.store(url, key_of_hook or self.agent.key)
        self.terminal.type(ASK)
        self.terminal.wait_for(prompt)
        self.terminal.press("Enter")
        result = self.result()
        assert not Request.objects.exists()
        return result


@contextmanager
def staged(client: str, gate: Gate, key: str, folder: Path) -> Iterator[Stage]:
    """Installs the hook for the client, and serves the stub of the model."""
    agent = Agent(gate.url, key, folder / "home")
    code, _, complaints = agent.manage("install", client)
    assert code == 0, complaints
    project = agent.home / "shop"
    project.mkdir()
    with model_serving() as model:
        yield Stage(agent, model, project)


@contextmanager
def started(stage: Stage, command: str, **variables: str) -> Iterator[Session]:
    """Starts the client in a terminal."""
    environment = {
        **stage.agent.variables,
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        **variables,
    }
    folder = stage.agent.home.parent / "tmux"
    with opened(command, environment, stage.project, folder) as terminal:
        yield Session(stage.agent, stage.model, stage.project, terminal)
