"""Runs the samples of examples/README.md, each in a process of its own, while people answer."""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import client, finish, gate, key
from tests.clients.gate import Gate
from tests.processes.stack import ROOT

__all__ = ["client", "gate", "key"]  # fixtures

EXAMPLES = ROOT / "examples"
PROGRAMS = Path(__file__).parent / "programs"
PYTHON = ROOT / ".venv-examples" / "bin" / "python"
NOT_INSTALLED = "the libraries of the examples are not installed: make test-examples"
Start = Callable[..., "subprocess.Popen[str]"]


def sample(heading: str, language: str) -> str:
    """The sample below a heading of examples/README.md."""
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", section, re.M | re.S)
    return str(found)


@pytest.fixture
def launch(gate: Gate, key: str, tmp_path: Path) -> Iterator[Start]:
    """`launch(command, NAME=…)` starts a program that finds the service; the test's end ends it."""
    running: list[subprocess.Popen[str]] = []

    def launch_program(command: Sequence[str], **variables: str) -> "subprocess.Popen[str]":
        environment = {
            "PATH": os.environ["PATH"],
            "REVIEW_LOOP_URL": gate.url,
            "REVIEW_LOOP_KEY": key,
            "REVIEW_LOOP_STATE": str(tmp_path / "state"),
            **variables,
        }
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        running.append(process)
        return process

    yield launch_program
    for process in running:
        kill_with_children(process)
        with process:  # closes its pipes
            pass


def kill_with_children(process: "subprocess.Popen[str]") -> None:
    """Ends the program and all that it has started, as when the machine restarts."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture
def start(launch: Start) -> Start:
    """`start(program, heading)` runs a program of ours around a sample, with the real libraries."""
    if not (PYTHON.parent.parent / "made.stamp").exists():
        pytest.skip(NOT_INSTALLED)

    def start_program(name: str, heading: str, *words: str, **variables: str) -> Any:
        return launch(
            [str(PYTHON), str(PROGRAMS / f"{name}.py"), *words],
            PYTHONPATH=f"{EXAMPLES}{os.pathsep}{PROGRAMS}",
            SAMPLE=sample(heading, "python"),
            LANGSMITH_TRACING="false",
            OPENAI_AGENTS_DISABLE_TRACING="1",
            **variables,
        )

    return start_program


def printed(process: "subprocess.Popen[str]") -> str:
    """What a program printed that ended well."""
    code, output, complaints = finish(process)
    assert code == 0, complaints
    return output
