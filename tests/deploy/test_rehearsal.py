"""`make rehearse` follows the documents: its commands and its sections stand there."""

import re
import shutil
from functools import partial
from pathlib import Path

import pytest

from tests import measured
from tests.deploy.rehearsal import docs, page, terminal, upgrading
from tests.deploy.rehearsal.clock import Tries


def test_every_command_stands_in_the_documents() -> None:
    missing = [quoted for quoted in docs.ALL if not quoted.is_there()]
    assert missing == []


def test_every_step_follows_a_section() -> None:
    for section, *_ in (*page.LIFE, *page.MOVE, *page.UPGRADE):
        assert docs.read_section(docs.OPERATIONS, section)


def test_every_line_of_the_blocks_is_done_or_explained() -> None:
    install, second, upgrade = docs.read_install(), docs.read_second_machine(), docs.read_upgrade()
    sorts = [terminal.sort(command) for command in (*install, *second, *upgrade)]
    assert {*sorts} == {"run", "systemctl", "elsewhere"}
    assert install[-1].startswith(".venv/bin/python manage.py makeoperator you@example.com")
    settings = next(command for command in install if command.startswith("cat >"))
    assert settings.endswith("\nEND")
    assert [command.partition(" ")[0] for command in second] == ["echo", "systemctl"]
    assert len(docs.read_restart()) == 5
    every = "\n".join((*install, *second, *upgrade))
    assert all(start in every for start in terminal.ELSEWHERE)


def test_every_unit_of_the_documents_is_known() -> None:
    commands = (*docs.read_install(), *docs.read_second_machine(), *docs.read_upgrade())
    words = [command.split()[1:] for command in commands if command.startswith("systemctl ")]
    units = [unit for each in words for unit in terminal.read_units(each)]
    assert {name for name, _ in units} == {"socket", "migrate", "web", "worker", "beat"}
    assert {number for name, number in units if name in ("web", "socket")} == {8000, 8001}


def test_a_command_that_is_new_stops_it() -> None:
    with pytest.raises(AssertionError, match="the rehearsal does not know 'rm -rf /'"):
        terminal.sort("rm -rf /")


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_earlier_commit_has_fewer_migrations(tmp_path: Path) -> None:
    """Neither the first one, which has none, nor one with a migration that is gone."""
    folder = tmp_path / "loops/migrations"
    folder.mkdir(parents=True)
    git = partial(measured.git, tmp_path)
    git("init", "--quiet")
    git("config", "user.email", "ada@example.org")
    git("config", "user.name", "Ada")
    git("config", "commit.gpgsign", "false")
    git("commit", "--quiet", "--allow-empty", "--message=nothing")
    for change in ("0001_gone", "-0001_gone", "0001_loops", "0002_names", "README"):
        file = folder / f"{change.removeprefix('-')}.py"
        if change.startswith("-"):
            file.unlink()
        else:
            file.touch()
        git("add", "--all")
        git("commit", "--quiet", f"--message={change}")
    assert upgrading.find_earlier(tmp_path) == git("rev-parse", "--short=12", "HEAD~2")
    git("checkout", "--quiet", "HEAD~2")
    with pytest.raises(SystemExit, match="name one with --earlier"):
        upgrading.find_earlier(tmp_path)


def test_the_page_says_what_was_found() -> None:
    rows = [page.Row("Backups", "a backup", "600 KiB", 12.4), page.Row("Doctor", "x", "y", 1.0)]
    text = page.write(rows, "abc123", "def456")
    assert "of commit abc123, upgraded from commit def456" in text
    assert "| Backups | a backup | 12 | 600 KiB |" in text
    assert "All in all 13 s." in text


def test_the_page_has_all_steps() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    titles = [what for _, what, _ in (*page.LIFE, *page.MOVE, *page.UPGRADE)]
    assert re.findall(r"^\| .+? \| (.+?) \| \d+ \| .+ \|$", text, re.MULTILINE) == titles


def test_tries_are_told_apart() -> None:
    tries = Tries()
    tries.note("GET", "/v1/api/requests/1?wait=10", 9.0, 200)
    tries.note("POST", "/v1/api/requests", 0.5, 502)
    tries.note("POST", "/v1/api/requests", 0.25, 201)
    tries.healed += 1
    assert (tries + Tries()).describe() == (
        "3 calls, 1 needed another try (1 × 502); slowest 0.50 s"
    )
