"""docs/reliability.md names the code, the seed and the seconds of the run that wrote it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.faults import chaos
from tests.faults.catalogue import FAULTS
from tests.faults.history import History
from tests.faults.page import PAGE
from tests.faults.storm import Aftermath, Storm
from tests.measured import committed, git
from tests.processes.stack import ROOT

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "reliability.md").write_text("old")
    (tmp_path / "code.py").write_text("code")
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "all"],
    ):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    return tmp_path


def test_it_runs_on_committed_code_alone(repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    (repository / "docs" / "reliability.md").write_text("new")
    assert commit.startswith(committed(repository, PAGE))

    (repository / "code.py").write_text("changed")
    with pytest.raises(SystemExit, match=r"Commit first[^\n]*\n M code\.py"):
        committed(repository, PAGE)


def test_the_page_names_its_run() -> None:
    storm = Storm(seconds=90, pause=(1.0, 2.0), seed=77, hurry=3.0)
    aftermath = Aftermath({"web killed": 2}, History([], {}, [], []))
    page = "\n".join([*chaos.table([("F", "C", "M")], "abc123"), *chaos.report(storm, aftermath)])
    assert "of commit abc123" in page
    assert "| F | C | M |" in page
    assert "--seconds 90 --seed 77" in page
    assert "web killed 2 times (seed 77)" in page


def test_the_page_is_of_the_code_beside_it() -> None:
    """Skipped, with a note, while the code has changed since: the run takes too long for that."""
    page = PAGE.read_text(encoding="utf-8")
    named = re.search(r"of commit ([0-9a-f]{12})", page)
    if not named:
        pytest.skip("docs/reliability.md names no commit: `make chaos` rewrites it")
    changed = subprocess.run(
        ["git", "-C", str(ROOT), "diff", "--quiet", named[1], "--", "tests/faults"]
    )
    if changed.returncode:
        pytest.skip(f"docs/reliability.md is of {named[1]}: `make chaos` rewrites it")
    rows = re.findall(r"^\| (.+?) \| .+ \| .+ \|$", page, re.MULTILINE)
    assert set(rows) >= {fault.name for fault in FAULTS}
