"""Starts, watches and stops PostgreSQL, Redis, web, worker and beat (`python -m local run`)."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from local import CannotStart, DidNotStart, Interrupted
from local.apps import MANAGE, ROOT, App, list_apps
from local.child import Child
from local.datafolder import DataFolder
from local.deadline import ATTEMPTS, StartDeadline
from local.disk import NO_SPACE, check_space, describe_scarcity
from local.environment import build_environment, check_port, fetch_readiness, read_port
from local.output import Output
from local.postgres import Postgres
from local.processes import Check, die_with_parent, finish, kill_group, spawn
from local.redis import Redis
from local.signals import Signals

# The messages of `manage.py migrate` while the database is away, at its start and later.
UNREACHABLE = ("The database cannot be reached", "OperationalError")
GRACE = 7.0  # seconds for the applications; with those of the servers it stays below 15


class Supervisor:
    """Starts, restarts and stops all child processes of a run."""

    def __init__(self, folder: DataFolder, port: int, signals: Signals) -> None:
        self.folder = folder
        self.port = port
        self.signals = signals
        self.output = Output(signals.wakeup)
        self.deadline = StartDeadline(signals.check, self.output.say)
        self.environment = dict(os.environ)
        self.servers: list[Child] = []
        self.apps: list[Child] = []

    def run(self) -> None:
        """Runs everything until a signal asks to stop. Raises CannotStart."""
        try:
            self._start_servers()
            self._prepare()
            self._start_apps()
            self._await_ready()
            self.output.say(f"Ready: http://127.0.0.1:{self.port}")
            while not self.signals.stop_requested:
                self.output.pump(self._seconds_to_next_start())
                self._restart_ended((*self.servers, *self.apps), self.signals.check)
        except Interrupted:
            pass
        finally:
            self._stop()

    def _start_servers(self) -> None:
        folder, sockets = self.folder.path, self.folder.sockets
        if not self.environment.get("DATABASE_URL"):
            postgres = Postgres(folder, sockets, {})
            self._add(self.servers, Child("postgres", postgres.start, postgres.stop))
            self.environment["DATABASE_URL"] = postgres.url
        if not self.environment.get("REDIS_URL"):
            redis = Redis(folder, sockets)
            self._add(self.servers, Child("redis", redis.start, redis.stop))
            self.environment["REDIS_URL"] = redis.url
        shared = build_environment(self.environment, self.folder, self.port)
        self.environment.update(
            shared, DATA_DIR=str(folder), PORT=str(self.port), PYTHONUNBUFFERED="1"
        )
        self.folder.write_environment(shared)

    def _prepare(self) -> None:
        log = self.folder.path / "migrate.log"
        while self._migrate(log) != 0:
            reason = log.read_text(encoding="utf-8", errors="replace").rstrip()
            if not any(each in reason for each in UNREACHABLE) and self._servers_run():
                self.output.say(reason)
                last = (reason.splitlines() or ["it said nothing"])[-1]
                raise CannotStart(f"The database could not be migrated: {last}")
            self._await_servers(reason.splitlines()[-1] if reason else "the database ended")
        while self._run_manage("createdemo", output=sys.stdout.fileno()) != 0:
            if self._servers_run():
                raise CannotStart("The demo account could not be created: the reason is above")
            self._await_servers("the database ended")

    def _migrate(self, log: Path) -> int:
        with log.open("wb") as stream:
            return self._run_manage("migrate", "--no-input", "-v", "0", output=stream.fileno())

    def _run_manage(self, *arguments: str, output: int) -> int:
        command = (*MANAGE, *arguments)
        process = spawn(command, env=self.environment, output=output, cwd=ROOT)
        return finish(process, self.deadline.waiting_for(f"manage.py {arguments[0]}"))

    def _servers_run(self) -> bool:
        return all(server.is_running() for server in self.servers)

    def _await_servers(self, reason: str) -> None:
        """Waits for a second, and until all our servers run again."""
        self.output.say(f"The database cannot be prepared yet ({reason}); trying again")
        check, soon = self.deadline.waiting_for("the database"), time.monotonic() + 1
        while time.monotonic() < soon or not self._servers_run():
            self._restart_ended(self.servers, check)
            self._give_up_on_repeated_ends()
            self.output.pump(0.1)
            check()

    def _start_apps(self) -> None:
        for app in list_apps(self.port, self.folder.path, self.environment):
            self._add(self.apps, Child(app.name, self._make_starter(app), kill_group))

    def _make_starter(self, app: App) -> Callable[[Check], subprocess.Popen[bytes]]:
        def start(_check: Check) -> subprocess.Popen[bytes]:
            process = spawn(app.command, env=self.environment, output=subprocess.PIPE, cwd=ROOT)
            self.output.follow(app.name, process.stdout)
            return process

        return start

    def _add(self, group: list[Child], child: Child) -> None:
        self.signals.check()
        group.append(child)
        check = self.deadline.waiting_for(child.name)
        while True:
            try:
                return child.start(check)
            except DidNotStart as error:
                if child.starts >= ATTEMPTS:
                    raise
                self.output.say(f"{error}; trying again in {child.postpone():.0f} s")
            while time.monotonic() < child.due:
                self.output.pump(0.1)
                check()

    def _await_ready(self) -> None:
        while not (readiness := fetch_readiness(self.port)).startswith("200"):
            self.output.pump(0.1)
            self._restart_ended((*self.servers, *self.apps), self._check_for("/readyz", readiness))
            self._give_up_on_repeated_ends()
            self._check_for("/readyz", readiness)()

    def _check_for(self, what: str, state: str) -> Check:
        return self.deadline.waiting_for(f"{what}: {state.strip()}")

    def _give_up_on_repeated_ends(self) -> None:
        for child in (*self.servers, *self.apps):
            if child.starts >= ATTEMPTS and not child.is_running():
                self.output.pump(0.1)  # shows its last lines
                last = self.output.read_last(child.name) or "it said nothing"
                raise CannotStart(
                    f"{child.name} ended {ATTEMPTS} times while it was starting: {last}"
                )

    def _seconds_to_next_start(self) -> float:
        waiting = [child.due for child in (*self.servers, *self.apps) if child.process is None]
        return max(0.0, min([1.0, *(due - time.monotonic() for due in waiting)]))

    def _restart_ended(self, children: Iterable[Child], check: Check) -> None:
        for child in children:
            if child.process is not None and not child.is_running():
                status = child.process.returncode
                child.stop()  # ends its own children, which may still use the port or the queue
                seconds = child.postpone()
                self.output.say(
                    f"{child.name} ended ({status}); starting it again in {seconds:.0f} s"
                )
                self._mention_full_disk()
            elif child.process is None and time.monotonic() >= child.due:
                try:
                    child.start(check)
                except CannotStart as error:
                    child.postpone()
                    self.output.say(str(error))

    def _mention_full_disk(self) -> None:
        """Reports a full disk as the likely cause, because logs on it may be missing."""
        if sentence := describe_scarcity(self.folder.path):
            self.output.say(sentence)

    def _stop(self) -> None:
        self.output.say("Stopping (another Ctrl-C does not wait for the applications)")
        for child in self.apps:
            if child.is_running() and child.process:
                child.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        while any(child.is_running() for child in self.apps) and time.monotonic() < deadline:
            if self.signals.stop_now:
                self.output.say("Ending the applications at once")
                break
            self.output.pump(0.1)
        for child in (*reversed(self.apps), *reversed(self.servers)):
            child.stop()
        self.output.pump(0)
        self.output.say("Stopped")


def check() -> int:
    """Reports obstacles to a start before anything is installed; returns the exit status."""
    try:
        check_port(read_port(os.environ.get("PORT") or "8000"))
        check_space(find_folder())
    except CannotStart as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def find_folder() -> Path:
    """Finds the data folder: DATA_DIR, or .data."""
    return Path(os.environ.get("DATA_DIR") or ROOT / ".data").absolute()


def run() -> int:
    """Runs the service; returns the exit status 0 after a stop, 1 if it cannot start."""
    if "MAKELEVEL" in os.environ:
        die_with_parent(signal.SIGTERM)
    signals = Signals()
    try:
        port = read_port(os.environ.get("PORT") or "8000")
        folder = DataFolder(find_folder())
        try:
            check_port(port)
            check_space(folder.path)
            Supervisor(folder, port, signals).run()
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            raise CannotStart(f"{error}: free some space, or choose another DATA_DIR=…") from error
        finally:
            folder.close()
    except CannotStart as error:
        print(error, file=sys.stderr)
        return 1
    return 0
