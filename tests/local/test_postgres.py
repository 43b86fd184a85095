"""The embedded PostgreSQL: made, kept, recovered."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from local import CannotStart, Interrupted
from local.account import Account, find_account, find_nobody, find_other_account
from local.datafolder import DataFolder
from local.postgres import Postgres, copy_cluster
from tests.waiting import wait_until


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[DataFolder]:
    folder = DataFolder(tmp_path / "data")
    yield folder
    folder.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stopped cluster, because making one takes a second."""
    folder = DataFolder(tmp_path_factory.mktemp("made") / "data")
    postgres = Postgres(folder.path, folder.sockets, {})
    with started(postgres):
        pass
    folder.close()
    return postgres.data


@pytest.fixture
def postgres(folder: DataFolder, made: Path) -> Postgres:
    """A server with a cluster that was stopped."""
    postgres = Postgres(folder.path, folder.sockets, {})
    copy_cluster(made, postgres.data)
    return postgres


@pytest.fixture
def new_postgres(folder: DataFolder) -> Postgres:
    """A server without a cluster."""
    return Postgres(folder.path, folder.sockets, {})


@contextmanager
def started(postgres: Postgres) -> Iterator[subprocess.Popen[bytes]]:
    process = postgres.start()
    try:
        yield process
    finally:
        postgres.stop(process)


def run(postgres: Postgres, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(host=str(postgres.sockets), user="app", dbname="app") as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def test_the_data_outlives_a_stop(postgres: Postgres) -> None:
    with started(postgres) as process:
        run(postgres, "CREATE TABLE kept AS SELECT 7 AS number")
    assert process.returncode == 0
    assert not (postgres.data / "postmaster.pid").exists()

    with started(postgres):
        assert run(postgres, "SELECT number FROM kept") == [(7,)]


def test_a_client_does_not_hold_up_the_stop(postgres: Postgres) -> None:
    with started(postgres) as process:
        idle = psycopg.connect(host=str(postgres.sockets), user="app", dbname="app")
    assert process.returncode == 0
    idle.close()


def test_a_killed_postmaster_recovers(postgres: Postgres) -> None:
    with started(postgres) as process:
        run(postgres, "CREATE TABLE kept AS SELECT 7 AS number")
        process.kill()
        process.wait()
        assert (postgres.data / "postmaster.pid").exists()

    with started(postgres):
        assert run(postgres, "SELECT number FROM kept") == [(7,)]


@pytest.mark.parametrize(
    "first_line", [str(os.getpid()), "", "nonsense"], ids=["our own", "empty", "nonsense"]
)
def test_a_stale_pid_file_makes_way(postgres: Postgres, first_line: str) -> None:
    with started(postgres):
        pass
    text = f"{first_line}\n{postgres.data}\n1\n5432\n" if first_line else ""
    (postgres.data / "postmaster.pid").write_text(text)

    with started(postgres):
        assert run(postgres, "SELECT 1") == [(1,)]


def test_a_postmaster_without_supervisor_is_stopped_first(postgres: Postgres) -> None:
    lost = postgres.start()
    wait_until(lambda: run(postgres, "SELECT 1"))

    # Its signal comes from stop_leftover, after the 2 s that a dying one is given.
    with started(postgres) as process:
        assert process.pid != lost.pid
        assert lost.wait(5) == 0
        assert run(postgres, "SELECT 1") == [(1,)]


def test_another_version_is_told_apart(postgres: Postgres) -> None:
    (postgres.data / "PG_VERSION").write_text("17\n")

    with pytest.raises(CannotStart, match=r"was made by PostgreSQL 17, this is 18: dump it"):
        postgres.start()


@pytest.fixture
def refusing_postgres(folder: DataFolder) -> Postgres:
    return Postgres(folder.path, folder.sockets, {"max_connections": "many"})


def test_a_setting_that_it_refuses_is_quoted(refusing_postgres: Postgres) -> None:
    with pytest.raises(CannotStart, match=r"PostgreSQL did not start \(.*max_connections"):
        refusing_postgres.start()


def test_an_interrupted_first_start_leaves_no_half_cluster(new_postgres: Postgres) -> None:
    def interrupt() -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        new_postgres.start(interrupt)
    assert not new_postgres.data.exists()

    with started(new_postgres):
        assert run(new_postgres, "SELECT 1") == [(1,)]


def test_nothing_listens_on_the_network(postgres: Postgres) -> None:
    with started(postgres):
        assert run(postgres, "SHOW listen_addresses") == [("",)]
        mode = (postgres.sockets / ".s.PGSQL.5432").stat().st_mode
    assert mode & 0o777 == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason="only root steps down")
class TestAsRoot:
    """Root runs it under another account, and an existing cluster's owner decides which."""

    def test_a_lesser_account_passes_closed_folders(self, new_postgres: Postgres) -> None:
        new_postgres.folder.chmod(0o700)
        account = find_other_account(find_nobody())
        new_postgres._make_cluster(account, lambda: None)  # as where user namespaces are closed
        assert new_postgres.data.stat().st_uid == find_nobody()

        with started(new_postgres) as process:
            assert find_account(new_postgres.data) == account
            assert effective_user(process.pid) == find_nobody()
            assert run(new_postgres, "SELECT 1") == [(1,)]

    def test_a_cluster_of_root_is_left_to_root(self, postgres: Postgres) -> None:
        if find_account(postgres.data).owner is not None:
            pytest.skip("user namespaces are closed here")
        with started(postgres):
            assert postgres.data.stat().st_uid == 0


def effective_user(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("\nUid:")[1].split()[1])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may use anybody's")
def test_a_cluster_of_somebody_else_is_refused() -> None:
    with pytest.raises(CannotStart, match="belongs to another user"):
        find_account(Path("/"))


def test_an_ordinary_user_needs_no_other_account(tmp_path: Path) -> None:
    account = find_account(tmp_path)

    assert (account == Account()) is (os.geteuid() != 0)


def test_a_killed_parent_takes_it_down_cleanly(postgres: Postgres, tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from local.postgres import Postgres\n"
        f"p = Postgres(Path({str(postgres.folder)!r}), Path({str(postgres.sockets)!r}), {{}})\n"
        "p.start(); print('up', flush=True); time.sleep(60)"
    )

    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"up\n"
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()

    wait_until(lambda: not (postgres.data / "postmaster.pid").exists())
    wait_until(lambda: "database system is shut down" in postgres.log.read_text())
