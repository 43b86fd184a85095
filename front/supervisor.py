"""Starts worker processes, starts them again when they die, and stops them."""

import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from local.processes import die_with_parent

BACKLOG = 1024
PAUSE = 1.0  # seconds before a worker that died is started again
GRACE = 30.0  # seconds for a worker to finish what is under way
SO_DETACH_FILTER = 27  # asm-generic/socket.h
WATCHED = {signal.SIGTERM, signal.SIGINT, signal.SIGCHLD}

Work = Callable[[socket.socket, Callable[[], None]], None]
"""Serves on a socket until SIGTERM; calls the function once it does."""


@dataclass
class Worker:
    """A worker process; `ready` is a pipe into which it writes when it serves."""

    number: int
    pid: int
    ready: int


def listen(host: str, port: int, count: int) -> list[socket.socket]:
    """Opens a socket for each worker; where the system shares connections among them (Linux), each
    has its own, and a worker that is busy does not take what another could answer."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    spread = sys.platform == "linux" and count > 1
    sockets = []
    for _ in range(count if spread else 1):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if spread:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
        listener.setblocking(False)
        sockets.append(listener)
    return sockets if spread else sockets * count


class Supervisor:
    """Keeps one worker for each socket. The sockets stay open here: what waits to be accepted
    outlives the death of a worker."""

    def __init__(self, sockets: list[socket.socket], work: Work) -> None:
        self._sockets = sockets
        self._work = work
        self._workers: dict[int, Worker] = {}
        self._has_served = False

    def run(self) -> int:
        """Runs until SIGTERM or SIGINT; returns the exit status."""
        signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
        for number in range(len(self._sockets)):
            self._start(number)
        while signal.sigwait(WATCHED) == signal.SIGCHLD:
            if not self._restart_ended():
                self._stop()
                return 1
        self._stop()
        return 0

    def _start(self, number: int, pause: float = 0.0) -> None:
        reading, writing = os.pipe()
        parent = os.getpid()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            self._run_worker(number, parent, writing, pause)
        os.close(writing)
        self._workers[pid] = Worker(number, pid, reading)

    def _run_worker(self, number: int, parent: int, ready: int, pause: float) -> None:
        die_with_parent()
        if os.getppid() != parent:  # it died before the call above
            os._exit(1)
        own = self._sockets[number]
        self._close_sockets(own)
        _take_new(own)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WATCHED)
        time.sleep(pause)
        self._work(own, lambda: _announce(ready))
        sys.exit(0)

    def _restart_ended(self) -> bool:
        """Starts workers again that died; False if none has ever been ready to serve."""
        for worker, status in self._reap():
            self._has_served |= _is_readable(worker.ready)
            os.close(worker.ready)
            if not self._has_served and not any(
                _is_readable(each.ready) for each in self._workers.values()
            ):
                print(f"A web worker ended while it was starting ({status})", file=sys.stderr)
                return False
            self._has_served = True
            print(f"A web worker ended ({status}); starting it again", file=sys.stderr, flush=True)
            self._start(worker.number, PAUSE)
        return True

    def _reap(self) -> list[tuple[Worker, int]]:
        ended = []
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                if pid in self._workers:
                    code = os.waitstatus_to_exitcode(status)
                    ended.append((self._workers.pop(pid), code))
        return ended

    def _stop(self) -> None:
        """Stops the workers, and kills those that take longer than GRACE."""
        self._close_sockets()
        for pid in self._workers:
            os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        while self._workers and time.monotonic() < deadline:
            self._reap()
            time.sleep(0.01)
        for pid in self._workers:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def _close_sockets(self, own: socket.socket | None = None) -> None:
        """Closes all but a worker's own: the system goes on accepting connections for a socket
        that any process has open, and resets them in the end if nobody serves them."""
        for each in self._sockets:
            if each is not own:
                each.close()


def _announce(ready: int) -> None:
    os.write(ready, b"1")


def _is_readable(pipe: int) -> bool:
    """Whether a worker has written that it serves; the end of the pipe does not count."""
    if not select.select([pipe], [], [], 0)[0]:
        return False
    return os.read(pipe, 1) == b"1"


def _take_new(listener: socket.socket) -> None:
    """Takes new connections again, which a worker drops that was told to stop (front/server.py)."""
    if sys.platform == "linux":
        with suppress(OSError):  # there was none to stop
            listener.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
