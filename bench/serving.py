"""Starts web servers as `make run` does, puts load on them, and reads their CPU."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from bench.load import CONNECTIONS
from local.apps import ROOT, build_web_command
from local.environment import fetch_readiness
from local.processes import spawn, stop

_TICKS = os.sysconf("SC_CLK_TCK")
STOPPING = ((signal.SIGTERM, 10.0),)

PORTS = range(10_000, 32_768)  # below the range from which systems take the ports of connections

Command = Callable[[int, Mapping[str, str]], tuple[str, ...]]


def free_port() -> int:
    """Returns a port on which a server can be started, and started again: a connection of another
    process that happened to get the same number would stop it, for a minute after its end too."""
    while True:
        port = random.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@dataclass(frozen=True)
class Web:
    """A running web server."""

    port: int
    process: subprocess.Popen[bytes]

    def cpu(self) -> float:
        """Returns the seconds of CPU that it has used so far."""
        return cpu_of(self.process.pid)

    def workers(self) -> list[int]:
        return [pid for pid in children(self.process.pid) if is_python_worker(pid)]


def build_bare_command(port: int, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Builds the command of a bare server: the floor pays nothing for slow clients."""
    ours = build_web_command(port, environment)
    workers, threads = (ours[ours.index(name) + 1] for name in ("--workers", "--threads"))
    granian = (sys.executable, "-m", "granian", "--interface", "wsgi", "--http", "1", "--no-ws")
    size = ("--workers", workers, "--blocking-threads", threads, "--log-level", "error")
    address = ("--host", "127.0.0.1", "--port", str(port))
    return (*granian, *address, *size, "bench.floor_wsgi:application")


@contextmanager
def web(command: Command = build_web_command, /, **environment: str) -> Iterator[Web]:
    """Starts the service, or the application of another DJANGO_SETTINGS_MODULE."""
    port = free_port()
    given = {**os.environ, **environment, "PORT": str(port)}
    with tempfile.TemporaryFile() as log:
        process = spawn(command(port, given), env=given, output=log, cwd=ROOT)
        try:
            deadline = time.monotonic() + 30
            while not answers(port):
                if process.poll() is not None or time.monotonic() > deadline:
                    log.seek(0)
                    raise RuntimeError(log.read().decode("utf-8", "replace"))
                time.sleep(0.05)
            yield Web(port, process)
        finally:
            stop(process, STOPPING)


def answers(port: int) -> bool:
    """Tells whether the server responds; the floor has no /readyz."""
    return fetch_readiness(port)[:3].isdigit()


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(number) for number in text.split()]


def is_python_worker(pid: int) -> bool:
    return b"resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_bytes()


def cpu_of(pid: int) -> float:
    """Seconds of CPU of a process and its children, including those that have ended."""
    total = 0.0
    for each in (pid, *children(pid)):
        try:
            fields = Path(f"/proc/{each}/stat").read_text(encoding="utf-8").rpartition(")")[2]
        except OSError:  # ended meanwhile: its parent's time includes it
            continue
        ticks = fields.split()[11:15] if each == pid else fields.split()[11:13]
        total += sum(map(int, ticks)) / _TICKS
    return total


@dataclass(frozen=True)
class Volley:
    """The results of a load; latencies in milliseconds."""

    calls: int
    seconds: float
    failures: dict[str, int]
    size: int  # of the last response, in bytes
    p50: float
    p95: float
    p99: float

    @property
    def rate(self) -> float:
        return self.calls / self.seconds


class Load:
    """The process that generates the load."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-m", "bench.load"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def fire(
        self,
        port: int,
        requests: list[str],
        *,
        seconds: float,
        calls: int = 1_000_000,
        connections: int = CONNECTIONS,
    ) -> Volley:
        """Calls until the time is over or all calls are made. Raises RuntimeError on any
        response that is not a success."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"port": port, "requests": requests, "seconds": seconds, "calls": calls}
        print(
            json.dumps({**order, "connections": connections}), file=self._process.stdin, flush=True
        )
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the load ended")
        volley = Volley(**json.loads(line))
        if volley.failures:
            raise RuntimeError(f"{requests[0].splitlines()[0]}: {volley.failures}")
        return volley

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()


@contextmanager
def load() -> Iterator[Load]:
    process = Load()
    try:
        yield process
    finally:
        process.close()


def get(path: str, key: str) -> str:
    """A GET of the API, as bytes on the wire."""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n\r\n"


def read_page(port: int, path: str, cookie: str) -> str:
    """Fetches the HTML of a page for a signed-in person."""
    call = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", headers={"Cookie": f"sessionid={cookie}"}
    )
    with urllib.request.urlopen(call) as answer:
        text: str = answer.read().decode()
    return text


def post(path: str, key: str, body: object, headers: Mapping[str, str] = {}) -> str:
    """A POST of the API, as bytes on the wire."""
    text = json.dumps(body)
    more = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n{more}"
        f"Content-Type: application/json\r\nContent-Length: {len(text.encode())}\r\n\r\n{text}"
    )


def page(path: str, cookie: str) -> str:
    """A GET of a page by a signed-in person, as bytes on the wire."""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: sessionid={cookie}\r\n\r\n"
