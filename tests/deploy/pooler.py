"""PgBouncer with the settings of deploy/pgbouncer, over a database of this machine."""

import configparser
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from bench.serving import free_port
from local.account import find_account
from local.processes import spawn
from tests.deploy.files import DEPLOY
from tests.waiting import wait_until

PGBOUNCER = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")


@contextmanager
def pooling(
    folder: Path, *, host: str, user: str, name: str, connections: int = 20, patience: int = 8
) -> Iterator[str]:
    """The address of the entry for web servers; that for workers is the same with `_worker`.

    `connections` is the size of its pool, `patience` how many seconds a call waits for one.
    """
    port = free_port()
    given = f"host={host} dbname={name} user={user}"
    file = write_settings(folder, port, given, connections, patience)
    account = find_account(folder / "none")
    account.give_folder(folder)
    with (folder / "pgbouncer.log").open("wb") as log:
        process = spawn(
            [*account.prefix, str(PGBOUNCER), str(file)], env=os.environ, output=log, cwd="/"
        )
    address = f"postgres://{user}@127.0.0.1:{port}/app"
    try:
        wait_until(lambda: answers(address) or process.poll() is not None)
        assert process.poll() is None, (folder / "pgbouncer.log").read_text()
        yield address
    finally:
        process.terminate()
        process.wait(20)


def write_settings(folder: Path, port: int, given: str, connections: int, patience: int) -> Path:
    """Our settings, with another server and without passwords."""
    settings = configparser.ConfigParser(interpolation=None)
    settings.read(DEPLOY / "pgbouncer/pgbouncer.ini")
    for name, line in settings["databases"].items():
        line = line.replace("host=postgres port=5432 dbname=app", given)
        settings["databases"][name] = line.replace("pool_size=20", f"pool_size={connections}")
    settings["pgbouncer"].update(listen_addr="127.0.0.1", listen_port=str(port))
    settings["pgbouncer"].update(
        auth_type="any", unix_socket_dir="", query_wait_timeout=str(patience)
    )
    del settings["pgbouncer"]["auth_file"]
    file = folder / "pgbouncer.ini"
    with file.open("w") as output:
        settings.write(output)
    return file


def answers(address: str) -> bool:
    try:
        with psycopg.connect(address):
            return True
    except psycopg.OperationalError:
        return False
