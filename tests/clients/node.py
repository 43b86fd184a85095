"""The Node programs of package.json."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.processes.stack import ROOT

MODULES = ROOT / "node_modules"
LEAST = (20, 19)  # the version that the linters need


@cache
def version() -> tuple[int, ...]:
    """The version of Node; () if there is none."""
    if not shutil.which("node"):
        return ()
    printed = subprocess.run(["node", "--version"], capture_output=True, encoding="utf-8").stdout
    return tuple(map(int, printed.strip().removeprefix("v").split(".")))


def program(package: str, path: str) -> list[str]:
    """The command of a program of a package; skips the test if it cannot run (fails in CI)."""
    reason = ""
    if version() < LEAST:
        reason = f"needs Node {LEAST[0]}.{LEAST[1]} or newer"
    elif not (MODULES / package / path).exists():
        reason = f"{package} is not installed: npm ci"
    if reason and os.environ.get("CI"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    return ["node", str(MODULES / package / path)]


def run(command: list[str], folder: Path, **environment: str) -> str:
    """What the command prints; it must end well."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
