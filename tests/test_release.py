"""`make release` writes the version and the date everywhere, or refuses and writes nothing."""

import re
import shutil
import subprocess
from datetime import date
from pathlib import Path

import pytest

from config.release import VERSION
from release import PLACES, RELEASED, Refused, choose_next, make_release, parse
from tests.schema.releases import FILE

ROOT = Path(__file__).resolve().parent.parent
TODAY = date(2027, 1, 31)
LEAVES = {"reviews": "0042_last", "accounts": "0007_other"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files that a release changes, in a repository of their own."""
    for name in ("CHANGELOG.md", "UPGRADING.md", RELEASED, *PLACES):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## Unreleased\n\n### Added\n- Much.\n\n## 0.1.0 · 2026-11-22\n\n- All.\n"
    )
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *command: str) -> str:
    who = ("-c", "user.name=Nora", "-c", "user.email=nora@example.org")
    done = subprocess.run(
        ["git", *who, "-C", folder, *command], capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "All")


def test_a_release(tree: Path) -> None:
    name = make_release(tree, "", LEAVES, TODAY)
    major, minor, _ = parse(VERSION)
    assert name == f"{major}.{minor + 1}.0"
    assert (tree / "CHANGELOG.md").read_text() == (
        f"# Changelog\n\n## Unreleased\n\n## {name} · 2027-01-31\n\n### Added\n- Much.\n\n"
        "## 0.1.0 · 2026-11-22\n\n- All.\n"
    )
    assert f"## Unreleased\n\n## {name} · 2027-01-31\n" in (tree / "UPGRADING.md").read_text()
    for place in PLACES:
        assert name in (tree / place).read_text()
    lines = (tree / RELEASED).read_text().splitlines()[1:]
    assert lines == ["accounts.0007_other", "reviews.0042_last"]
    changed = {line[3:] for line in git(tree, "status", "--porcelain").splitlines()}
    assert changed == {"CHANGELOG.md", "UPGRADING.md", RELEASED, *PLACES}
    assert git(tree, "tag") == ""
    commit(tree)
    with pytest.raises(Refused, match="nothing below Unreleased"):
        make_release(tree, "", LEAVES, TODAY)


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [("0.0.9", "not newer"), (VERSION, "not newer"), ("two", "no version"), ("1.2", "no version")],
)
def test_versions_that_cannot_be(tree: Path, wanted: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        make_release(tree, wanted, LEAVES, TODAY)
    assert git(tree, "status", "--porcelain") == ""


def test_a_tree_with_changes(tree: Path) -> None:
    (tree / "new.txt").write_text("not committed")
    with pytest.raises(Refused, match=r"not committed:\n\?\? new\.txt"):
        make_release(tree, "", LEAVES, TODAY)


def test_a_folder_that_git_does_not_know(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="git does not know"):
        make_release(tmp_path, "", LEAVES, TODAY)


@pytest.mark.parametrize(
    ("current", "headings", "following"),
    [
        ((0, 1, 0), ["Added", "Removed"], (0, 2, 0)),
        ((1, 1, 3), ["Added", "Removed"], (2, 0, 0)),
        ((1, 1, 3), ["Changed", "Fixed"], (1, 2, 0)),
        ((1, 1, 3), ["Fixed", "Security"], (1, 1, 4)),
        ((1, 1, 3), [], (1, 2, 0)),
    ],
)
def test_the_changelog_chooses(
    current: tuple[int, int, int], headings: list[str], following: tuple[int, int, int]
) -> None:
    assert choose_next(current, "".join(f"### {name}\n- Some.\n" for name in headings)) == following


def test_the_version_is_the_same_everywhere() -> None:
    for place, pattern in PLACES.items():
        text = (ROOT / place).read_text(encoding="utf-8")
        (found,) = re.finditer(pattern, text, re.MULTILINE)
        assert VERSION in found[0], place
    assert f"## {VERSION} · " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert ROOT / RELEASED == FILE
