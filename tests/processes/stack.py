"""One `make run`, started as a person would start it, with everything it leaves behind in view."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import requests

from bench.serving import free_port
from local.postgres import copy_cluster
from local.pytest_plugin import PREPARED
from tests.waiting import wait_until

# The web server: its parent, and the workers that uvicorn starts.
WEB = r"-m front |multiprocessing\.spawn import"
ROOT = Path(__file__).resolve().parents[2]
STOPS_WITHIN = 15.0  # seconds
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "USER")


class Stack:
    """`make run` with a port and a data folder of its own.

    A new data folder begins with the prepared cluster, if there is one, unless it is to be `fresh`.
    """

    def __init__(
        self,
        data: Path,
        port: int | None = None,
        output: str = "",
        *,
        fresh: bool = False,
        **environment: str,
    ) -> None:
        self.data = data
        self.port = port or free_port()
        self.site = f"http://127.0.0.1:{self.port}"
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.environment = {
            **kept,
            "PORT": str(self.port),
            "DATA_DIR": str(data),
            **environment,
        }
        self.make: subprocess.Popen[bytes] | None = None
        self._output = data.with_name((output or data.name) + ".output")
        prepared = os.environ.get(PREPARED)
        if prepared and not fresh and not data.exists() and "DATABASE_URL" not in environment:
            data.mkdir(mode=0o700, parents=True)
            copy_cluster(Path(prepared), data / "postgres")

    def start(self) -> "Stack":
        """In a process group of its own, as a terminal gives it one."""
        with self._output.open("wb") as output:
            self.make = subprocess.Popen(
                ["make", "--no-print-directory", "run"],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return self

    def start_until_ready(self) -> "Stack":
        self.start()
        wait_until(lambda: self.ready_line() or self.ended(), 60)
        assert self.ready_line(), self.output()
        return self

    def ready_line(self) -> bool:
        return f"Ready: {self.site}\n" in self.output()

    def output(self) -> str:
        return self._output.read_text(encoding="utf-8")

    def manage(self, *arguments: str) -> str:
        """`manage.py` in a second terminal, which knows the DATA_DIR alone."""
        environment = {**self.environment}
        del environment["PORT"]
        return subprocess.run(
            [ROOT / ".venv/bin/python", ROOT / "manage.py", *arguments],
            env=environment,
            cwd=ROOT,
            check=True,
            capture_output=True,
            encoding="utf-8",
        ).stdout

    def database_url(self) -> str:
        """Where the database is, as `manage.py` finds it: a long path has its sockets elsewhere."""
        lines = (self.data / "env").read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)["DATABASE_URL"]

    def call(self, key: str, path: str = "/v1/test") -> requests.Response:
        headers = {"Authorization": f"Bearer {key}"}
        return requests.get(self.site + path, headers=headers, timeout=10)

    def processes(self) -> dict[int, str]:
        """Every living process whose command, environment or folder is in our data folder."""
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                command = self._command(entry)
                if command:
                    found[int(entry.name)] = command
        return found

    def _command(self, entry: Path) -> str:
        mark = os.fsencode(self.data)
        try:
            command = (entry / "cmdline").read_bytes()
            # A process in a user namespace of its own keeps its environment to itself.
            folder = os.fsencode((entry / "cwd").readlink())  # Redis tells it by nothing else
            if mark in command or mark in folder or mark in (entry / "environ").read_bytes():
                return command.replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            pass
        return ""

    def pid_of(self, pattern: str) -> int:
        """The oldest process whose command matches."""
        return min(pid for pid, command in self.processes().items() if re.search(pattern, command))

    def ended(self) -> bool:
        return self.make is not None and self.make.poll() is not None

    def signal_make(self, number: int) -> None:
        assert self.make is not None
        self.make.send_signal(number)

    def signal_group(self, number: int) -> None:
        assert self.make is not None
        os.killpg(self.make.pid, number)

    def wait_for_end(self, seconds: float = STOPS_WITHIN) -> int:
        """The exit status of make, once nothing of the run is left."""
        assert self.make is not None
        status = self.make.wait(seconds)
        wait_until(lambda: not self.processes(), seconds)
        return status

    def stopped_cleanly(self) -> bool:
        last = (self.data / "postgres.log").read_text(encoding="utf-8").splitlines()[-1]
        left = [name for name in ("env", "sockets") if (self.data / name).exists()]
        pid_file = (self.data / "postgres" / "postmaster.pid").exists()
        return "database system is shut down" in last and not left and not pid_file

    def _has_killed_all(self) -> bool:
        """Also kills what the supervisor started anew before it was killed itself."""
        left = self.processes()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):  # it ended while we looked
                os.kill(pid, signal.SIGKILL)
        return not left

    def discard(self) -> None:
        """End what a failed test may have left."""
        wait_until(self._has_killed_all)
        if self.make is not None:
            self.make.wait(STOPS_WITHIN)
        shutil.rmtree(self.data, ignore_errors=True)
