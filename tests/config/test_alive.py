"""`python -m config.alive`: whether a worker or beat of this machine is at work."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from celery.beat import PersistentScheduler
from django.conf import settings

from config import alive, beat, celery
from tests.processes.stack import ROOT


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ALIVE_DIR", str(tmp_path))
    return tmp_path


def check(kind: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "config.alive", kind],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    assert "django" not in done.stderr  # it is called every few seconds
    return done.returncode, done.stdout + done.stderr


def test_a_worker_that_runs() -> None:
    celery.note_life()
    code, said = check("worker")
    assert code == 0
    assert "The worker was at work 0 s ago." in said


def test_none_has_run() -> None:
    celery.note_life()
    assert alive.describe("beat")[0] is False
    code, said = check("beat")
    assert code == 1
    assert "No beat has run on this machine" in said


def test_one_that_hangs(folder: Path) -> None:
    celery.note_life()
    old = time.time() - alive.MAX_AGE - 5
    os.utime(folder / "reviewloop-worker.alive", (old, old))
    assert alive.describe("worker") == (
        False,
        f"The worker has not been at work for 65 s ({folder}/reviewloop-worker.alive).",
    )


def test_beat_notes_every_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PersistentScheduler, "tick", lambda scheduler: 0.5)
    assert settings.CELERY_BEAT_SCHEDULER == "config.beat:Scheduler"
    scheduler = beat.Scheduler.__new__(beat.Scheduler)
    assert scheduler.tick() == 0.5
    assert alive.describe("beat")[0]


@pytest.mark.parametrize("harm", ["emptied", "halved", "zeroed"])
def test_beat_survives_a_damaged_schedule(tmp_path: Path, harm: str) -> None:
    """As the crash of a machine leaves it."""
    path = tmp_path / "beat-schedule"
    options = {"app": celery.app, "schedule_filename": str(path), "lazy": True}
    first = beat.Scheduler(**options)
    first.setup_schedule()
    entries = {*first.schedule}
    first.close()
    values = max(tmp_path.iterdir(), key=lambda each: each.stat().st_size)
    content = values.read_bytes()
    half = content[: len(content) // 2]
    values.write_bytes({"emptied": b"", "halved": half, "zeroed": bytes(len(content))}[harm])
    second = beat.Scheduler(**options)
    second.setup_schedule()
    assert entries == {*second.schedule}
    assert entries
    second.close()


def test_a_link_in_a_shared_folder_is_not_followed(folder: Path) -> None:
    target = folder / "precious"
    (folder / "reviewloop-worker.alive").symlink_to(target)
    alive.touch("worker")
    assert not target.exists()


def test_a_wrong_name_says_how(capsys: pytest.CaptureFixture[str]) -> None:
    assert alive.main(["web"]) == 2
    assert "usage" in capsys.readouterr().err
