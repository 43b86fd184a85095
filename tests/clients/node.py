"""The Node programs of package.json."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest

from tests.processes.stack import ROOT

MODULES = ROOT / "node_modules"
MADE = ROOT / "build" / "tests"  # what takes long to make (made_once)
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


def made_once(name: str, inputs: Iterable[Path], make: Callable[[Path], None]) -> Path:
    """The folder that `make` fills from these files and the packages: once for all processes and
    runs, and anew as soon as one of the files or packages is another one."""
    digest = hashlib.sha256(repr(version()).encode())
    for path in sorted({*inputs, ROOT / "package-lock.json", Path(__file__)}):
        if path.is_file():
            digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    made = MADE / f"{name}-{digest.hexdigest()[:16]}"
    MADE.mkdir(parents=True, exist_ok=True)
    with (MADE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            for old in MADE.glob(f"{name}-*"):
                shutil.rmtree(old)
            unfinished = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=MADE))
            make(unfinished)
            unfinished.rename(made)
    return made


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
