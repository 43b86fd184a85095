"""A disk without room: a sentence instead of silence."""

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from bench.serving import free_port
from local import CannotStart, disk, supervisor
from local.apps import ROOT
from local.child import Child
from local.datafolder import DataFolder
from local.postgres import Postgres

MB = 2**20


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How many bytes are free."""
    state = {"bytes": 10_000 * MB}
    monkeypatch.setattr(disk, "measure_free", lambda folder: state["bytes"])
    return state


def test_a_new_folder_needs_room_for_a_database(tmp_path: Path, free: dict[str, int]) -> None:
    folder = tmp_path / "not yet" / "there"
    disk.check_space(folder)
    free["bytes"] = 120 * MB
    with pytest.raises(CannotStart, match="has 120 MB left, but a new database needs 250 MB"):
        disk.check_space(folder)
    (folder / "postgres").mkdir(parents=True)
    disk.check_space(folder)
    free["bytes"] = 49 * MB
    with pytest.raises(CannotStart, match="has 49 MB left, but PostgreSQL needs 50 MB: free some"):
        disk.check_space(folder)


def test_what_is_free_is_measured_where_the_folder_will_be(tmp_path: Path) -> None:
    assert disk.measure_free(tmp_path / "a" / "b") > 0


def test_a_server_that_could_not_start_names_the_full_disk(
    tmp_path: Path, free: dict[str, int]
) -> None:
    postgres = Postgres(tmp_path, tmp_path, {})
    assert str(postgres._build_error("did not start")).endswith("postgres.log")
    free["bytes"] = 0
    text = str(postgres._build_error("did not start"))
    assert text.endswith(f"The disk of {tmp_path} is full (0 MB left): free some space")


def test_a_server_that_ended_on_a_full_disk_is_explained(
    tmp_path: Path, free: dict[str, int]
) -> None:
    said: list[str] = []
    running = supervisor.Supervisor.__new__(supervisor.Supervisor)
    running.folder = DataFolder(tmp_path)
    running.output = Mock(say=said.append)
    server = Child("postgres", Mock(), Mock())
    server.process = Mock(poll=lambda: 1, returncode=1)
    running._restart_ended([server], lambda: None)
    assert said == ["postgres ended (1); starting it again in 1 s"]
    server.process, free["bytes"] = Mock(poll=lambda: 1, returncode=1), 0
    running._restart_ended([server], lambda: None)
    assert said[2:] == [f"The disk of {tmp_path} is full (0 MB left): free some space"]
    running.folder.close()


def test_nothing_is_created_or_said_besides_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("PORT", "http")
    assert supervisor.check() == 1
    assert capfd.readouterr().err == "PORT is 'http': set it to a number from 1 to 65535\n"
    assert not (tmp_path / "data").exists()


def test_a_start_on_a_full_disk_says_so_and_ends(small_disk: Path) -> None:
    """A file system of 40 MB, where PostgreSQL could not even begin."""
    environment = {**os.environ, "DATA_DIR": str(small_disk / "data"), "PORT": str(free_port())}
    for name in ("DATABASE_URL", "REDIS_URL", "MAKELEVEL"):
        environment.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-m", "local", "run"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert "MB left, but a new database needs 250 MB: free some space" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.fixture
def small_disk(tmp_path: Path) -> object:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=40m,mode=0755", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("this needs root, to mount a small file system")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)
