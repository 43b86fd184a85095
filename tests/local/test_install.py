"""What an installation says while it runs, and when it fails."""

import re
import sys
import threading
import tomllib
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from local import disk, install
from local.install import Progress, explain, follow

LINES = [
    "Collecting Django==5.2.19 (from -r requirements.txt (line 2))",
    "  Downloading Django-5.2.19-py3-none-any.whl (8.3 MB)",
    "WARNING: Location 'file:///elsewhere' is ignored",
    "Requirement already satisfied: pip in ./.venv",
    "Collecting celery==5.7.0",
]


def test_it_says_how_far_it_is_though_nothing_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "SAYS_EVERY", 0.0)
    said: list[str] = []
    heard = threading.Event()

    def slowly() -> Iterator[str]:
        yield from LINES
        heard.wait(20)  # a large download: no line comes
        yield "Installing collected packages: Django, celery, kombu"

    def say(text: str) -> None:
        said.append(text)
        if len(said) > len(LINES):
            heard.set()

    follow(slowly(), Progress(), say)
    assert heard.is_set()
    assert said[len(LINES)].endswith(" s: 3 packages found or downloaded")
    assert said[-1].endswith(" s: writing 3 packages to the disk")
    assert not any("WARNING" in text for text in said)


def test_a_failure_shows_the_last_lines() -> None:
    progress = Progress()
    for line in (*LINES, "ERROR: No matching distribution found for nothing==1"):
        progress.read(line)
    *_, error, last = explain(progress).splitlines()
    assert error == "ERROR: No matching distribution found for nothing==1"
    assert last == "The packages could not be installed: pip's last lines are above."


def test_a_full_disk_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    progress = Progress()
    progress.read("ERROR: Could not install packages due to an OSError: No space left on device")
    assert explain(progress).startswith("The packages could not be installed. A disk is full")
    monkeypatch.setattr(disk, "measure_free", lambda folder: 3 * 2**20)
    assert "is full (3 MB left): free some space, about 500 MB, and run" in explain(progress)


def test_pip_itself_is_quiet_about_what_is_there(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("segno\n", encoding="utf-8")
    assert install.main([str(requirements)]) == 0
    assert "segno" not in capfd.readouterr().out
    requirements.write_text("./nothing/there\n", encoding="utf-8")
    assert install.main([str(requirements)]) == 1
    assert "could not be installed" in capfd.readouterr().err
    assert sys.executable == install.PIP[0]


def test_every_pinned_package_installs_on_the_oldest_python() -> None:
    """Debian 12 has Python 3.11.2, and some packages begin to require a later 3.11."""
    project = tomllib.loads((install.ROOT / "pyproject.toml").read_text())["project"]
    oldest = project["requires-python"].removeprefix(">=") + ".0"
    pins = re.findall(r"^([\w.-]+)==", (install.ROOT / "constraints.txt").read_text(), re.MULTILINE)
    pinned = {canonicalize_name(pin) for pin in pins}
    packages = [each for each in distributions() if canonicalize_name(each.name) in pinned]
    assert len(packages) > 100  # a few are for certain versions of Python alone
    for package in packages:
        required = str(package.metadata.json.get("requires_python", ""))
        assert oldest in SpecifierSet(required), package.name
