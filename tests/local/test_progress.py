"""A command that says nothing is reported on while it runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from local import progress
from tests.processes.stack import ROOT


def test_it_says_that_the_command_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The command ends once it has been said twice."""
    monkeypatch.setattr(progress, "REPORT_SECONDS", 0.01)
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        if len(said) == 2:
            (tmp_path / "over").touch()

    wait = f"while [ ! -e {tmp_path}/over ]; do sleep 0.01; done; exit 3"
    assert progress.run(["sh", "-c", wait], say) == 3
    assert len(said) >= 2
    assert re.fullmatch(r"  \d+ s: still at it", said[0])


def test_what_the_command_prints_comes_through() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "local.progress", "sh", "-c", "echo here; exit 4"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
    )
    assert (done.stdout, done.stderr, done.returncode) == ("here\n", "", 4)


@pytest.mark.parametrize("command", ["-m venv .venv", "django collectstatic", "npm ci"])
def test_every_long_and_silent_step_of_make_run_is_told(command: str) -> None:
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    found = [line for line in lines if line.startswith("\t") and command in line]
    assert found
    assert all("$(PROGRESS)" in line for line in found), found
